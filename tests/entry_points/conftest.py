"""Commands run as typed, as in the tests of the command line."""

from tests.cli.conftest import command
from tests.snpe.conftest import tool

__all__ = ["command", "tool"]
