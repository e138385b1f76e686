"""`.dlc` files: networks kept in one file, float or quantised. The format is docs/dlc-format.md."""

from hexsim.container.metadata import Metadata
from hexsim.container.reader import Container, read
from hexsim.container.writer import write

__all__ = ["Container", "Metadata", "read", "write"]
