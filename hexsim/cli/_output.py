"""What a command writes: where it goes, and that it costs nobody a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.files import require_folder


def output_path(model: str, output: Path | None, default: str) -> Path:
    """Return `output`, or the file called `default` beside `model`."""
    return Path(model).with_name(default) if output is None else output


def require_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[str | Path | None] = ()
) -> None:
    """Raise HexsimError, before any long work, unless every output can be written.

    None may be a file that the command reads, nor the same as another; None stands for one that
    was not asked for.
    """
    chosen: list[Path] = []
    for output in outputs:
        if output is None:
            continue
        require_folder(output)
        for read in inputs:
            if read is not None and _same(output, Path(read)):
                raise HexsimError(f"'{output}' would overwrite an input; give it another name")
        if any(_same(output, other) for other in chosen):
            raise HexsimError(
                f"two outputs would be written to '{output}'; give each a name of its own"
            )
        chosen.append(output)


def _same(path: Path, other: Path) -> bool:
    if path.absolute() == other.absolute():
        return True
    return path.exists() and other.exists() and path.samefile(other)
