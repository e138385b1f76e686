"""Files of chips, stacks, background loads and sweeps that are TOML, and not what is expected.

A case is told by its number alone.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import read_space
from tests.dlc.made import small_network
from tests.fuzz import texts
from tests.fuzz.watch import watched

_SPACE = """\
networks = ["m.dlc"]
chips = ["sd855", "sd865"]
stacks = ["snpe-1.30"]
runtimes = ["dsp", "aip"]
cuts = ["automatic", "fastest"]
draws = 4
seed = 0

[workload]
instances = [1, 2]
background = [[], ["camera"]]
perf_profiles = ["burst"]
buffers = ["tf8"]
idle_ms = [0.0]
inferences = 2

[constants."dsp.hvx.contexts"]
values = [1, 2]

[constants."memory.ddr_peak_bytes_per_s"]
low = 10e9
high = 60e9
steps = 2
scale = "log"

[constants."memory.efficiency"]
drawn = true
"""
VALUES = (
    *("nan", "-nan", "inf", "-inf", "0", "-0", "-0.0", "-1", "1e308", "1e-320", "1e999", "1e400"),
    *(
        "9" * 39,
        "9" * 400,
        "9" * 5000,
        "-" + "9" * 39,
        "0x" + "f" * 32,
        "0x" + "f" * 9000,
        "0o7",
        "0b1",
    ),
    *("2.0", "1.5", "1_000", "9223372036854775807", "9223372036854775808", "true", "false", "''"),
    *("1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "9999-12-31T23:59:59.999999+23:59"),
    *(
        '""',
        '"x"',
        '"1"',
        '"nan"',
        "'''\n\n'''",
        '"\\u0000"',
        '"\\u001b[2J"',
        '"\\u202e"',
        '"\U0010ffff"',
    ),
    *('"\\ud800"', '"\\U00110000"', f'"{"y" * 5000}"', '"../x"', '"/dev/zero"', '"."', '"x.toml"'),
    *("[]", "[[]]", "[1, 'a', 2.5, []]", "{}", "{a = 1}", "{a.b.c = 1}", "{a = {b = {}}}", "[{}]"),
    *("[" * 60 + "]" * 60, "[" * 70 + "]" * 70, "[" * 9000, "{a = " * 60 + "1" + "}" * 60),
    *("{a=" * 5000, "{value = 1}", "{value = nan}", "{value = {value = 1}}", "{value = []}"),
    *("{value = 1979-05-27, unit = 'clk', source = 's', confidence = 'assumed'}",),
    *(f"{{value = {'9' * 39}, unit = 'clk', source = 's', confidence = 'assumed'}}",),
    *("[" + "1," * 20000 + "]", "['a', 'a']", "[1, 1.0, true]", "[nan, nan]"),
)
KEYS = (
    *(
        "a",
        "name",
        "value",
        "unit",
        "''",
        '""',
        '"\\u001b"',
        '"\\n"',
        "'a.b'",
        "1",
        "1.5",
        "-",
        "_",
    ),
    *("a.b", "a." * 63 + "a", "a." * 64 + "a", "'a'." * 4000 + "a", '"' + "k" * 5000 + '"'),
    *('"__class__"', '"model_config"', "self", "é", '"\\u00e9"', '"e\\u0301"', '"\\ud800"'),
)
_LINE = re.compile(r"^\s*[^#\[\s][^=\n]*=.*$", re.MULTILINE)
_HEADER = re.compile(r"^\[.*\]$", re.MULTILINE)
_INNER = re.compile(r"(?<=[=,\[{] )[^,\[\]{}=\n]+(?=[,\]}\n ])")


@cache
def good() -> tuple[tuple[str, str, texts.Read], ...]:
    """File name, contents, and the reader that takes them."""
    datasheets = [
        (name, data.decode(), read) for name, data, read in texts.good() if "toml" in name
    ]
    return (*datasheets, ("space.toml", _SPACE, _space), ("space.toml", _SPACE, _space))


def _space(path: Path) -> None:
    """Read a space and all of its platforms."""
    settings(read_space(path))


def _place(rng: random.Random, pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    spans = [match.span() for match in pattern.finditer(text)]
    return rng.choice(spans) if spans else (len(text), len(text))


def _value(rng: random.Random, text: str) -> str:
    start, end = _place(rng, _LINE, text)
    key = text[start:end].partition("=")[0] or "a"
    return f"{text[:start]}{key}= {rng.choice(VALUES)}{text[end:]}"


def _inner(rng: random.Random, text: str) -> str:
    """A value within a table or list on one line."""
    start, end = _place(rng, _INNER, text)
    return text[:start] + rng.choice(VALUES) + text[end:]


def _key(rng: random.Random, text: str) -> str:
    start, end = _place(rng, _LINE, text)
    key, _, value = text[start:end].partition("=")
    new = rng.choice((rng.choice(KEYS), f"{key.strip()}.{rng.choice(KEYS)}"))
    line = f"{new} = {value or 1}"
    return text[:start] + rng.choice((line, f"{text[start:end]}\n{line}")) + text[end:]


def _header(rng: random.Random, text: str) -> str:
    start, end = _place(rng, _HEADER, text)
    key = text[start + 1 : end - 1]
    header = rng.choice(
        (
            f"[[{key}]]",
            f"[{key}.{rng.choice(KEYS)}]",
            f"[{rng.choice(KEYS)}]",
            f"[{key}]\n[{key}]",
            "",
        )
    )
    return text[:start] + header + text[end:]


def _twice(rng: random.Random, text: str) -> str:
    start, end = _place(rng, rng.choice((_LINE, _HEADER)), text)
    return f"{text[:end]}\n{text[start:end]}{text[end:]}"


def _without(rng: random.Random, text: str) -> str:
    start, end = _place(rng, rng.choice((_LINE, _HEADER)), text)
    return text[:start] + text[end:]


_CHANGES: tuple[Callable[[random.Random, str], str], ...] = (
    *(_value, _value, _value, _inner, _inner, _key, _key, _header, _twice, _without),
)


def forged(number: int) -> tuple[str, str, texts.Read]:
    """File name, contents and reader of a case."""
    rng = random.Random(number)
    name, text, read = rng.choice(good())
    return name, mutated(rng, text), read


def mutated(rng: random.Random, text: str) -> str:
    """Damage `text` once or a few times, in ways that `rng` chooses."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(_CHANGES)(rng, text)
    return text


def judged(number: int, folder: Path) -> str:
    """The sentence by which a file was refused, or nothing; anything else it raises is a fault."""
    name, text, read = forged(number)
    prepare(folder)
    (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    with watched(), contextlib.chdir(folder):
        try:
            read(folder / name)
        except HexsimError as error:
            return str(error).replace(f"{folder}/", "")
    return ""


def prepare(folder: Path) -> None:
    """Write what the files name."""
    from hexsim import dlc
    from hexsim.quantization.model import Model

    dlc.write(folder / "m.dlc", Model(small_network()))
