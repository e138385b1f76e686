"""Write pictures as raw files, with the input list that names them.

`<name>.raw` has the numbers of `<name>.jpg`, float32, little endian, channels last unless requested
otherwise, no header; an NV21 input gets its bytes. A blank in a name becomes an underscore, since
blanks separate the files of a line. The scripts of SNPE's tutorials write such a folder
(documented), `raw_list.txt` included.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from hexsim.errors import HexsimError
from hexsim.files import claim, write_bytes, write_text
from hexsim.inputs.pictures import Frame

LIST = "raw_list.txt"
"""The name of the list, as in the tutorials."""

Layout = Literal["nhwc", "nchw"]


def write_raw_files(
    files: Sequence[Path],
    frame: Frame,
    folder: Path,
    layout: Layout = "nhwc",
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write the pictures in `files` to `folder`; return the list.

    `progress` gets the number done. Raises HexsimError for a picture that cannot be read, for two
    that would have the same name, and for a folder that cannot be written or named in a list.
    """
    if len(str(folder).split()) != 1 or str(folder)[0] in "#%" or ":=" in str(folder):
        raise HexsimError(
            f"folder '{folder}' cannot be named in an input list, where blanks, := and a # or % in "
            "front have a meaning; choose another folder"
        )
    targets: dict[Path, Path] = {}
    for file in files:
        target = folder / f"{'_'.join(file.stem.replace(':=', ' ').split())}.raw"
        if target in targets:
            raise HexsimError(
                f"'{targets[target].name}' and '{file.name}' would both be '{target.name}'; rename "
                "one of them"
            )
        targets[target] = file
    listed = folder / LIST
    claim((*targets, listed), parents=True)
    dtype = "u1" if frame.encoding == "nv21" else "<f4"
    for done, (target, file) in enumerate(targets.items(), start=1):
        array = frame.stored(file)
        ordered = array.transpose(2, 0, 1) if layout == "nchw" else array
        write_bytes(target, ordered.astype(dtype).tobytes(), parents=True)
        progress(done)
    write_text(listed, "".join(f"{target}\n" for target in targets))
    return listed
