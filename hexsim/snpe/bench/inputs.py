"""Finds the files of an input list.

SNPE's benchmark copies each path of Model:Data into a folder of the device, and paths of the list
start there. So `cropped/a.raw` is the file a.raw in the folder `cropped` that Data names. A path
to an existing file from the current folder is not changed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hexsim.texts.text import lines


def place(path: Path, data: Sequence[Path]) -> Path:
    """Return the place of a path of the list; a missing file is left for its reader to report."""
    if not path.exists():
        for source in data:
            copied = source.parent / path
            if path.parts[:1] == (source.name,) and copied.exists():
                return copied
    return path


def as_found(text: str, data: Sequence[Path]) -> str:
    """Return the text of a list with its paths as they can be read from the current folder."""
    return "".join(f"{line}\n" for line in _lines(text, data))


def _lines(text: str, data: Sequence[Path]) -> Iterator[str]:
    for _, line in lines(text):
        if line[0] in "#%":
            yield line
            continue
        words = (word.rpartition(":=") for word in line.split())
        yield " ".join(f"{name}{mark}{place(Path(file), data)}" for name, mark, file in words)
