"""Where a command that makes a .dlc file puts it."""

from __future__ import annotations

from pathlib import Path

from hexsim.errors import HexsimError


def output_path(model: str, output: Path | None, default: str) -> Path:
    """Return `output`, or the file called `default` beside `model`.

    Raises HexsimError if that would overwrite `model` itself.
    """
    chosen = Path(model).with_name(default) if output is None else output
    if chosen.absolute() == Path(model).absolute() or (
        chosen.exists() and Path(model).exists() and chosen.samefile(model)
    ):
        raise HexsimError(f"'{chosen}' would overwrite the model it is made from; give another -o")
    return chosen
