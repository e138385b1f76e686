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
    claim,
    clean_tree,
    outside_transaction,
    replacing,
    scratch,
    transaction,
    write_bytes,
    write_text,
)
from hexsim.files.places import require_place
from hexsim.files.reading import is_there, require_ordinary

__all__ = [
    "claim",
    "clean_tree",
    "is_there",
    "outside_transaction",
    "replacing",
    "require_ordinary",
    "require_place",
    "scratch",
    "transaction",
    "write_bytes",
    "write_text",
]
