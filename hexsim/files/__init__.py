"""Files: written whole or not at all, never over what is read, and read only if they end.

Rooms within
    landing      outputs take their places together, when all of them are finished
    places       whether a file can be written somewhere, and when two names mean one file
    temporaries  what lies beside an output until then, and what killed programs left of it
    reading      inputs are ordinary files
    private      folders for what is kept between runs, which nobody else can write

Left out: access control lists, extended attributes, and a machine that loses its power.
"""

from hexsim.files.atomic_write import (
    alone,
    claim,
    clean_tree,
    replacing,
    scratch,
    together,
    write_bytes,
    write_text,
)
from hexsim.files.places import require_place
from hexsim.files.reading import is_there, require_ordinary

__all__ = [
    "alone",
    "claim",
    "clean_tree",
    "is_there",
    "replacing",
    "require_ordinary",
    "require_place",
    "scratch",
    "together",
    "write_bytes",
    "write_text",
]
