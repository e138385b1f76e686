"""Parses a prototxt into a message, and finds the fields that the schema does not have.

Protobuf ignores unknown fields. So the names of all fields are checked once more, in a text that
protobuf has accepted.
"""

import re

from google.protobuf import text_format

from hexsim.errors import InvalidTextError
from hexsim.frameworks.caffe.net_messages import HARMLESS, Net
from hexsim.frameworks.messages import Message
from hexsim.records import dataclass
from hexsim.texts.text import shortened, visible

MOST_CHARACTERS = 1 << 21
"""Networks of a thousand layers need a tenth of that. Protobuf reads this size in seconds."""
MOST_IN_LINE = 1 << 16
"""Most characters of a line; protobuf may copy the line for every value in it."""
_LONGEST = 200
"""Most characters of a message of protobuf that are shown."""
_LAYERS = "Layer", "V1Layer"
_GAP = r"(?:\s|\#[^\n]*+)*+"
_TOKEN = re.compile(
    r"\#[^\n]*+"
    r""" | "(?:[^"\\\n]|\\.)*+"? | '(?:[^'\\\n]|\\.)*+'?"""
    rf" | (?P<name>[A-Za-z_]\w*+)(?P<field>(?={_GAP}[:{{<]))?"
    r" | (?P<mark>[{<>}])"
    r" | [\w.+-]++",
    re.VERBOSE,
)


@dataclass(frozen=True)
class UnknownField:
    """A field that the schema lacks, its line, and the descriptor of the message around it."""

    name: str
    line: int
    within: Message

    @property
    def known(self) -> tuple[str, ...]:
        """Fields that may have been meant; none for a layer, which has too many."""
        return () if self.within.name in _LAYERS else tuple(self.within.fields_by_name)


Unknown = dict[int, UnknownField]


def parse_prototxt(text: str, where: str) -> tuple[Message, Unknown]:
    """Return the net that `text` describes, and the first unknown field of each layer.

    Layers are numbered from 1; 0 is the net itself. Raises InvalidTextError with `where` and the
    reason.
    """
    _require_small(text, where)
    net = Net()
    try:
        text_format.Parse(text, net, allow_unknown_field=True)
    except RecursionError:
        raise InvalidTextError(f"{where}: messages are nested too deep") from None
    except (text_format.ParseError, ValueError) as error:
        raise InvalidTextError(_words(error, text, where)) from None
    return net, _unknown(text)


def _require_small(text: str, where: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise InvalidTextError(
            f"{where} has {len(text)} characters, more than the {MOST_CHARACTERS} that the "
            "description of a network may have"
        )
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MOST_IN_LINE:
            raise InvalidTextError(
                f"{where}, line {number}: it has {len(line)} characters; break it into lines of "
                f"at most {MOST_IN_LINE}"
            )


def _words(error: Exception, text: str, where: str) -> str:
    """Return the message of protobuf with its position, but without the line that it repeats."""
    message = str(error)
    if isinstance(error, text_format.ParseError) and error.GetLine() is not None:
        number, column = error.GetLine(), error.GetColumn()
        line = text.split("\n")[number - 1]
        message = message.partition(" : ")[2].removeprefix(f"'{line}': ").removeprefix("'': ")
        where = f"{where}, line {number}, column {column}"
    message = shortened(visible(message.rstrip(".")), _LONGEST)
    return f"{where}: {message}{'the end' if message.endswith(' got ') else ''}"


def _unknown(text: str) -> Unknown:
    """Return the first unknown field of each layer, by the number of the layer."""
    unknown: Unknown = {}
    layers = layer = position = 0
    line = 1
    # Each open message, and the message type of its last field; None: fields are not checked.
    open_messages: list[Message] = [Net.DESCRIPTOR]
    inner: list[Message] = [None]
    for token in _TOKEN.finditer(text):
        message, name, mark = open_messages[-1], token["name"], token["mark"]
        if token["field"] is not None and message:
            field = message.fields_by_name.get(name)
            inner[-1] = field and field.message_type
            if not field and name not in HARMLESS:
                line, position = line + text.count("\n", position, token.start()), token.start()
                unknown.setdefault(layer, UnknownField(visible(name), line, message))
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
