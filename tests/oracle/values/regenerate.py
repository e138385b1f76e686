"""Ask qemu anew for the committed answers: `python -m tests.oracle.values.regenerate`."""

from tests.oracle.values.golden import FOLDER, write

if __name__ == "__main__":
    write(FOLDER)
