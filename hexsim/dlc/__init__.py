"""`.dlc` files: networks in one file, float or quantised (docs/reference/dlc-format.md)."""

from hexsim.dlc.document import Metadata
from hexsim.dlc.reader import Container, read
from hexsim.dlc.writer import write

__all__ = ["Container", "Metadata", "read", "write"]
