"""A prototxt as a message, and what stands in it besides the fields that are read.

Protobuf passes over what its schema does not have. So the names of the fields are looked through
once more, in a text that protobuf has found to be right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from google.protobuf import text_format

from hexsim.errors import InvalidDataError
from hexsim.frameworks.caffe.net_messages import HARMLESS, Net
from hexsim.frameworks.messages import Message
from hexsim.texts.names import visible
from hexsim.texts.text import shortened

MOST_CHARACTERS = 1 << 21
"""Networks of a thousand layers have a tenth of them. Protobuf reads so many in seconds."""
MOST_IN_LINE = 1 << 16
"""Characters of a line, which protobuf may copy for every value in it."""
_LONGEST = 200
"""Characters of what protobuf says."""
_LAYERS = "Layer", "V1Layer"
_GAP = r"(?:\s|\#[^\n]*+)*+"
_TOKEN = re.compile(
    r"\#[^\n]*+"
    r""" | "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+'"""
    rf" | (?P<name>[A-Za-z_]\w*+)(?={_GAP}[:{{<])"
    r" | (?P<mark>[{<>}])"
    r" | [\w.+-]++",
    re.VERBOSE,
)


@dataclass(frozen=True)
class UnknownField:
    """A field that the schema lacks, its line, and the descriptor of the message that has it."""

    name: str
    line: int
    within: Message

    @property
    def known(self) -> tuple[str, ...]:
        """The fields that it may mean; none for those of a layer, which are too many."""
        return () if self.within.name in _LAYERS else tuple(self.within.fields_by_name)


Unknown = dict[int, UnknownField]


def parse_prototxt(text: str, where: str) -> tuple[Message, Unknown]:
    """Return the net that `text` describes, and the first unknown field of each layer.

    Layers are numbered from 1; 0 is the net itself. Raises InvalidDataError with `where` and what
    is wrong.
    """
    _require_small(text, where)
    net = Net()
    try:
        text_format.Parse(text, net, allow_unknown_field=True)
    except RecursionError:
        raise InvalidDataError(f"{where}: messages are nested too deep") from None
    except (text_format.ParseError, ValueError) as error:
        raise InvalidDataError(_words(error, text, where)) from None
    return net, _unknown(text)


def _require_small(text: str, where: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise InvalidDataError(
            f"{where} has {len(text)} characters, which is more than the description of a network "
            f"needs (at most {MOST_CHARACTERS})"
        )
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MOST_IN_LINE:
            raise InvalidDataError(
                f"{where}, line {number}: it has {len(line)} characters; break it into lines of "
                f"at most {MOST_IN_LINE}"
            )


def _words(error: Exception, text: str, where: str) -> str:
    """What protobuf says, and where, without the line that it repeats, which may be very long."""
    words = str(error)
    if isinstance(error, text_format.ParseError) and error.GetLine() is not None:
        number, column = error.GetLine(), error.GetColumn()
        line = text.split("\n")[number - 1]
        words = words.partition(" : ")[2].removeprefix(f"'{line}': ").removeprefix("'': ")
        where = f"{where}, line {number}, column {column}"
    words = shortened(visible(words.rstrip(".")), _LONGEST)
    return f"{where}: {words}{'the end' if words.endswith(' got ') else ''}"


def _unknown(text: str) -> Unknown:
    """The first unknown field of each layer, by the number of the layer."""
    unknown: Unknown = {}
    layers = layer = at = 0
    line = 1
    # Each open message, and that of its last field; None: its fields are nobody's business.
    open_messages: list[Message] = [Net.DESCRIPTOR]
    inner: list[Message] = [None]
    for token in _TOKEN.finditer(text):
        within, name, mark = open_messages[-1], token["name"], token["mark"]
        if name and within:
            field = within.fields_by_name.get(name)
            inner[-1] = field and field.message_type
            if not field and name not in HARMLESS:
                line, at = line + text.count("\n", at, token.start()), token.start()
                unknown.setdefault(layer, UnknownField(visible(name), line, within))
        elif mark in ("{", "<"):
            if len(inner) == 1 and inner[0] and inner[0].name in _LAYERS:
                layers += 1
                layer = layers
            open_messages.append(inner[-1])
            inner.append(None)
        elif mark:
            open_messages.pop()
            inner.pop()
            layer = layer if len(inner) > 1 else 0
    return unknown
