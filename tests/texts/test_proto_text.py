"""Protobuf's text format: messages, scalars, lists, texts, and lines of what is wrong."""

import pytest

from hexsim.texts.proto_text import MOST_TOKENS, Message, Scalar, parse_proto_text


def _plain(message: Message) -> dict[str, list[object]]:
    """Words as they are, texts in quotes, messages as dictionaries."""
    return {name: [_value(one) for one in values] for name, values in message.fields.items()}


def _value(one: Scalar | Message) -> object:
    if isinstance(one, Message):
        return _plain(one)
    return f"'{one.text}'" if one.quoted else one.text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", {}),
        ("a: 1 b: -2.5e-3 c: MAX", {"a": ["1"], "b": ["-2.5e-3"], "c": ["MAX"]}),
        ("a: 1 a: 2", {"a": ["1", "2"]}),
        ("a: [1, 2, 3]", {"a": ["1", "2", "3"]}),
        ("a: []", {"a": []}),
        ("a { b: 1 } a: { } a <b: 2>", {"a": [{"b": ["1"]}, {}, {"b": ["2"]}]}),
        ("a: 1; b: 2, c: 3", {"a": ["1"], "b": ["2"], "c": ["3"]}),
        ("# a: 1\na: 2 # a: 3", {"a": ["2"]}),
        (r"""a: "x\"y\n" b: 'it"s'""", {"a": ["'x\"y\n'"], "b": ["'it\"s'"]}),
        ("a: 'one ' \"two\"", {"a": ["'one two'"]}),
        ("a: '}' b: '#'", {"a": ["'}'"], "b": ["'#'"]}),
    ],
)  # fmt: skip
def test_what_a_text_says(text: str, wanted: dict[str, list[object]]) -> None:
    assert _plain(parse_proto_text(text, "f")) == wanted


def test_lines_are_kept() -> None:
    message = parse_proto_text("a: 1\n\n# x\nb {\n  c: 2 }", "f")
    (inner,) = message.fields["b"]
    assert isinstance(inner, Message)
    assert (inner.line, inner.fields["c"]) == (4, [Scalar("2", False, 5)])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a: 1\n}", "f, line 2: '}' stands where a field begins"),
        ("a {\n b: 1", "f, line 2: the text ends within the message of line 1"),
        ("a { b: 1 >", "f, line 1: '>' stands where a field begins"),
        ("a", "f, line 1: field 'a' has no value"),
        ("a: [1 2]", "f, line 1: '2' stands within a list"),
        ("a: [1", "f, line 1: the end stands within a list"),
        ("a: 'open", "f, line 1: ''open' is no field"),
        ("a: \x07", r"f, line 1: '\x07' is no field"),
        ("[x.y]: 1", "f, line 1: '[' stands where a field begins"),
        ("a {" * 65, "f, line 1: messages are nested more than 64 levels deep"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match="line") as caught:
        parse_proto_text(text, "f")
    assert str(caught.value) == wrong


def test_a_text_has_an_end() -> None:
    with pytest.raises(ValueError, match=f"more than {MOST_TOKENS} words"):
        parse_proto_text(";" * (MOST_TOKENS + 1), "f")
