"""The command line: one file per command, heavy imports inside the commands."""

from hexsim.cli.app import main

__all__ = ["main"]
