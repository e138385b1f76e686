"""`.dlc` files: networks in one file, float or quantised (docs/reference/dlc-format.md)."""

from hexsim.container.metadata import Metadata
from hexsim.container.reader import Container, read
from hexsim.container.writer import write

__all__ = ["Container", "Metadata", "read", "write"]
