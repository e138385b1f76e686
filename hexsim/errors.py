"""The one exception type that reaches a user, and what functions say while they work.

Every mistake a user can make (a wrong file, an unknown chip, a layer that a runtime refuses)
is raised as a `HexsimError` whose text is one sentence: what is wrong, where, and what to do.
The command line prints that sentence and exits with code 2; library callers catch the type.
"""

import difflib
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, SupportsFloat

_PACKAGE = os.path.dirname(__file__) + os.sep
_MOST = 200
"""The most characters of a name that are compared and shown."""
_LONG = re.compile(r"(?<=')[^']{1000,}(?=')|\[[^\[\]]{1000,}|[^\s']{400,}")
"""Very long names, lists or words, which are shortened; paths and other text are rarely so long."""

_MOST_OF_SENTENCE = 4000
"""The most characters of a sentence; longer ones lose their middle, such as a list of shapes."""
_MOST_COMPARED = 2000
"""The most known names that are compared with an unknown one, which takes up to a second."""
_NEAR = (0.8, 0.5)
"""How alike suggested names are: those of the second share only if none has the first."""
_DIGITS = re.compile(r"\d{2,}")
"""A number of two digits or more, as in the name of a chip."""


_KEYWORDS = {
    "images": "inputs",
    "input_list": "inputs",
    "calibration_list": "calibration",
    "enable_hta": "hexsim.compile_hta",
    "hta_partitions": "partitions",
    "udl": "hexsim.use_layers",
    "explain": "hexsim.validate",
    "json": "to_json()",
}
"""How Python spells a parameter of a command, where it does so otherwise."""


def keyword(name: str, value: object = None) -> str:
    """Return a parameter as a program gives it: `weight_bits=8`."""
    name = _KEYWORDS.get(name, name)
    return name if value is None or "." in name else f"{name}={value!r}"


Spelling = Callable[[str, object], str]
_spellings: list[Spelling] = [keyword]
"""How the program in use spells parameters: the last one counts."""


def spelled(name: str, value: object = None) -> str:
    """Return a parameter, with a value if there is one, as the program in use spells it.

    Sentences name parameters in this way, since a program gives keywords, a command line options.
    A value may be a tuple, or a mapping for a parameter that has a value for each name.
    """
    return _spellings[-1](name, value)


def either(*names: str) -> str:
    """Return parameters of which one is enough, as the program in use spells them."""
    return " or ".join(dict.fromkeys(map(spelled, names)))


def spelling() -> Spelling:
    """Return how the program in use spells parameters, for its other processes."""
    return _spellings[-1]


@contextmanager
def spelling_as(how: Spelling) -> Iterator[None]:
    """Let sentences that are made inside the block spell parameters in this way."""
    _spellings.append(how)
    try:
        yield
    finally:
        _spellings.pop()


def option_of(name: str, value: object = None) -> str:
    """Return an option of a command line with its value."""
    if value is None or value is True:
        return name
    if isinstance(value, Mapping):
        value = " ".join(f"{key} {_listed(each)}" for key, each in value.items())
    return f"{name} {_listed(value)}"


def _listed(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else f"{value}"


class HexsimError(Exception):
    """A mistake in the user's input, described in one sentence.

    Names from files may have any length, so very long ones are shortened to their beginning.
    """

    def __init__(self, sentence: str) -> None:
        short = _LONG.sub(lambda word: f"{word[0][:_MOST]}...", sentence)
        if len(short) > _MOST_OF_SENTENCE:
            half = _MOST_OF_SENTENCE // 2 - 20  # the program's name comes before it
            short = f"{short[:half]} ... {short[-half:]}"
        super().__init__(short)


class InvalidDataError(ValueError):
    """A mistake in the data of a file or user, described without its place.

    The check that finds the mistake raises it. A caller that knows the layer, node or file catches
    it and raises a HexsimError with that name. Any other ValueError is a bug.
    """


class InvalidTextError(HexsimError, InvalidDataError):
    """A mistake in a text, which the sentence names with its place: file, line or key."""


class Listener:
    """Hears what functions say while they work; each program shows it in its own way.

    This one is that of a user's own program: warnings are Python's, and the rest is not shown.
    """

    def warning(self, sentence: str) -> None:
        """Hear of something that is certainly not meant: it is at the line that called hexsim."""
        frame, level = sys._getframe(), 1
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame, level = frame.f_back, level + 1
        warnings.warn(sentence, stacklevel=level)

    def note(self, sentence: str) -> None:
        """Hear what was done that the user did not ask for in so many words."""

    def step(self, what: str) -> None:
        """Hear what is done now."""

    def counting(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Return a block for work on `total` things; its function hears how many are done."""
        return nullcontext(lambda done: None)

    def keeping(self, what: str) -> AbstractContextManager[None]:
        """Return a block whose results are kept if the program ends in it; `what` says so."""
        return nullcontext()


_listeners: list[Listener] = [Listener()]
"""What hears the functions of this process: the last one does."""


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let `listener` hear what functions say inside the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def warn_caller(sentence: str) -> None:
    """Warn of something that is certainly not meant."""
    _listeners[-1].warning(sentence)


def note(sentence: str) -> None:
    """Say what was done that the user did not ask for in so many words."""
    _listeners[-1].note(sentence)


def step(what: str) -> None:
    """Say what is done now, to a person who waits."""
    _listeners[-1].step(what)


def counting(what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Return a block for work on `total` things; its function is called with how many are done."""
    return _listeners[-1].counting(what, total)


def keeping(what: str) -> AbstractContextManager[None]:
    """Return a block whose results are kept if the program ends in it; `what` says so."""
    return _listeners[-1].keeping(what)


_OFTEN = {"npu": "htp", "hexagon": "dsp", "cdsp": "dsp", "hta": "aip"}
"""What people call runtimes, and their names here."""


def nearest(name: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    """Return the end of a sentence on an unknown name: the nearest known names, or all.

    A name with the same letters in another order is the one: sd835 for sd385. Names with the same
    number of two digits or more come first: qcs605 for sd605. `shown` is what is said in the place
    of a known name.
    """
    names, name = sorted(known), str(name)[:_MOST]  # a very long one takes very long to compare
    same_size = (known for known in names if len(known) == len(name))
    turned = [known for known in same_size if sorted(known.lower()) == sorted(name.lower())]
    turned = turned or [known for known in names if known == _OFTEN.get(name.lower())]
    number = _DIGITS.findall(name)
    same_number = [known for known in names if number and _DIGITS.findall(known) == number]
    alike = (difflib.get_close_matches(name, names[:_MOST_COMPARED], 3, near) for near in _NEAR)
    similar = next(filter(None, alike), [])
    said = shown or {}
    matches = dict.fromkeys(said.get(each, each) for each in turned or (*same_number, *similar))
    if matches:
        return f"did you mean {' or '.join([*matches][:3])}?"
    listed = sorted({said.get(each, each) for each in names})
    return f"known: {', '.join(listed)}" if names else "none is known"


def unknown(kind: str, name: str, known: Iterable[str]) -> HexsimError:
    """Return the error for a name that is not in a list of known names."""
    name = str(name)
    short_name = name if len(name) <= _MOST else f"{name[:_MOST]}..."
    return HexsimError(f"unknown {kind} '{short_name}'; {nearest(name, known)}")


def require_number(name: str, value: Any, least: float, most: float) -> None:
    """Raise HexsimError unless `value` is a number from `least` to `most`."""
    is_number = isinstance(value, SupportsFloat) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not least <= number <= most:
        raise HexsimError(f"{name} is a number from {least:g} to {most:g}, not {value!r}")
