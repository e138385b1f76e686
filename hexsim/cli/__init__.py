"""The command line: one file per command, heavy imports inside the commands."""


def main() -> None:
    """Run the program as it was called; it ends with SystemExit."""
    from hexsim.cli._stopping import stoppable

    with stoppable():  # before anything that takes long to import
        from hexsim.cli.app import run_program

        run_program()
