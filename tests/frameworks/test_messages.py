"""Classes of protobuf messages, made from tables: their fields, numbers, kinds and choices."""

from google.protobuf import text_format

from hexsim.frameworks.messages import message_classes

CLASSES = message_classes(
    "tests.messages",
    {
        "Outer": "inner=3:Inner* size:int32 kind=7:SMALL=1|LARGE=4 name:text",
        "Inner": "numbers:float* raw=2:bytes",
    },
)


def test_fields_have_the_numbers_of_the_table_or_of_their_places() -> None:
    fields = CLASSES["Outer"].DESCRIPTOR.fields_by_name
    numbers = {name: field.number for name, field in fields.items()}
    assert numbers == {"inner": 3, "size": 2, "kind": 7, "name": 4}


def test_bytes_are_those_of_the_wire_format() -> None:
    """A field: its number times 8 plus its kind (2: what has a length, 0: a number)."""
    outer = CLASSES["Outer"](size=5, inner=[{"raw": b"ab"}, {"numbers": [1.0]}])
    assert outer.SerializeToString() == (
        b"\x10\x05" + b"\x1a\x04\x12\x02ab" + b"\x1a\x06\x0a\x04\x00\x00\x80\x3f"
    )


def test_choices_have_words_and_numbers() -> None:
    outer = text_format.Parse("kind: LARGE", CLASSES["Outer"]())
    assert outer.kind == text_format.Parse("kind: 4", CLASSES["Outer"]()).kind == 4
