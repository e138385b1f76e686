"""Command lines are read as argparse and getopt_long read them."""

import pytest

from hexsim.errors import HexsimError
from hexsim.snpe.option import Effect, Option
from hexsim.snpe.words import read

FILE = Option(("--input_dlc", "-i"), ("FILE",), "", Effect("ours"))
FIRST = Option(("--input_dlc_one", "-i1"), ("FILE",), "", Effect("ours"))
PAIR = Option(("--input_dim", "-d"), ("NAME", "DIMS"), "", Effect("ours", ("--input-dim",)))
SEARCH = Option(
    ("--search",), ("WHERE",), "", Effect("ours", ("--s",)), choices=("a", "b"), alone="b"
)
FLAG = Option(("--verbose", "-v"), (), "", Effect("anyway"))
COUNT = Option(("--count",), ("N",), "", Effect("ours", ("--count",)), number="real")
TIMES = Option(("--times",), ("N",), "", Effect("ours", ("--times",)), number="whole")
TABLE = (FILE, FIRST, PAIR, SEARCH, FLAG, COUNT, TIMES)


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("--input_dlc a.dlc", [(FILE, ("a.dlc",))]),
        ("--input_dlc=a=b.dlc", [(FILE, ("a=b.dlc",))]),
        ("--input-dlc a.dlc", [(FILE, ("a.dlc",))]),
        ("-i a.dlc -ib.dlc", [(FILE, ("a.dlc",)), (FILE, ("b.dlc",))]),
        ("-i1 a.dlc", [(FIRST, ("a.dlc",))]),
        ("-d in 1,3 --input_dim=out 2", [(PAIR, ("in", "1,3")), (PAIR, ("out", "2"))]),
        ("--search -v", [(SEARCH, ("b",)), (FLAG, ())]),
        ("--search a", [(SEARCH, ("a",))]),
        ("--verb", [(FLAG, ())]),
        ("--count 3", [(COUNT, ("3",))]),
    ],
)
def test_a_line_is_read(line: str, given: list[object]) -> None:
    assert read(TABLE, line.split()) == given


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--inptu_dlc a", "unknown option '--inptu_dlc'; did you mean --input_dlc"),
        ("-z", "unknown option '-z'"),
        ("-vx", "unknown option '-vx'"),
        ("a.dlc", "'a.dlc' follows no option"),
        ("--input_d a", "'--input_d' may be --input_dim or --input_dlc or --input_dlc_one"),
        ("-d in", "-d needs NAME and DIMS behind it"),
        ("-i", "-i needs FILE behind it"),
        ("--verbose=3", "--verbose takes no value, and is given '3'"),
        ("--search=c", "unknown value of --search 'c'; known: a, b"),
        ("--count many", "--count takes a number, and is given 'many'"),
        ("--count nan", "--count takes a number, and is given 'nan'"),
        ("--times 1.5", "--times takes a whole number, and is given '1.5'"),
        ("--count -1", "--count takes a number"),
    ],
)
def test_what_is_refused(line: str, sentence: str) -> None:
    with pytest.raises(HexsimError) as refused:
        read(TABLE, line.split())
    assert sentence in str(refused.value)
