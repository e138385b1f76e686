"""Ask qemu anew for the committed answers: `python -m tests.oracle.int8.regenerate`."""

from tests.oracle.int8.golden import FOLDER, write

if __name__ == "__main__":
    write(FOLDER)
