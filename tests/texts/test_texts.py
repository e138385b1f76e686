"""Each kind of text has one reader, which tells file, line or key of what it does not take."""

from __future__ import annotations

import os
import re
import tracemalloc
from pathlib import Path

import pytest

from hexsim.texts.csv_text import parse_csv
from hexsim.texts.text import decoded, lines, read_text, shortened
from hexsim.texts.trees import parse_json, parse_toml


def read(path: Path) -> str:
    return read_text(path, "list", "write one")


def test_a_mark_and_either_kind_of_line_break_are_taken(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa \r\n\r b\x0bc\n")
    assert [*lines(read(tmp_path / "x"))] == [(1, "a"), (3, "b\x0bc")]


def test_what_is_no_text_is_named_with_its_line() -> None:
    with pytest.raises(ValueError, match=r"list is no text in UTF-8 \(line 2\); write one"):
        decoded(b"a\n\xff", "list", "; write one")
    with pytest.raises(ValueError, match=r"list is no text \(line 3 holds a NUL\)"):
        decoded(b"a\nb\n\0", "list")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    for name, words in {
        "pipe": "it is a pipe or a device, no ordinary file; write one",
        "large": "has 1099511627776 bytes, too many for a text",
        ".": "it is a folder; write one",
        "none": "No such file",
        "x" * 5000: "File name too long",
        "a\0b": "no file has such a name",
    }.items():
        with pytest.raises(ValueError, match=words):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "f, line 1: Expecting value; repair the JSON"),
        ('{"a": 1,\n "b" 2}', "f, line 2: Expecting ':' delimiter"),
        ('["a', "f, line 1: Unterminated string; repair"),
        ('{"a": {"b": 1, "b": 2}}', "f: key 'b' is there twice"),
        ('{"a": [1, NaN]}', "f: key 'a[1]' is NaN"),
        ('{"a": -Infinity}', "f: key 'a' is infinite"),
        ('{"a": 1e999}', "f: key 'a' is infinite, or too large"),
        ('{"a": ' + "9" * 5000 + "}", "f: key 'a' is infinite, or too large"),
        ("[" * 70 + "]" * 70, "nested more than 64 levels deep"),
        ("[" * 99999, "f is nested more than 64 levels deep"),
    ],
)
def test_json_that_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_json(text, "f")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = \n", "f: not valid TOML: Invalid value (at line 1, column 5)"),
        ("a = 1\na = 2", "f: not valid TOML: Cannot overwrite a value"),
        ("[t]\na = nan", "f: key 't.a' is NaN"),
        ("a = [1, -inf]", "f: key 'a[1]' is infinite"),
        ("a = " + "9" * 5000, "f: a number has too many digits"),
        ("a = 0x" + "f" * 5000, "f: key 'a' is too large a number"),
        ("a = " + "[" * 70 + "]" * 70, "nested more than 64 levels deep"),
        ("a = " + "[" * 99999, "f is nested more than 64 levels deep"),
    ],
)
def test_toml_that_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_toml(text, "f")


@pytest.mark.parametrize("text", ["1e308", "-1e19", "1e-320", "-1e-19", "9" * 20, "0x" + "f" * 17])
def test_a_quantity_has_a_size_that_arithmetic_bears(text: str) -> None:
    assert parse_toml(f"a = [{text}]", "f")
    with pytest.raises(ValueError, match=r"f: key 'a\[0\]' is .*; give 0, or a number of a size"):
        parse_toml(f"a = [{text}]", "f", quantities=True)
    assert parse_toml("a = [0, 0.0, -1e18, 1e-18, true]", "f", quantities=True)


@pytest.mark.parametrize(
    "key",
    ["a" + ".a" * 64, "a . a" + "\t.\ta" * 63, '"a\\"b"' + ".'c'" * 64, "é" + ".é-1" * 64],
)
@pytest.mark.parametrize("form", ["{} = 1", "x = 1\n[{}]", "[[{}]]", "x = {{ {} = 1 }}"])
def test_a_key_of_many_parts_is_refused_before_it_is_read(key: str, form: str) -> None:
    """`tomllib` takes memory that grows with the square of the parts: 6 GB for 50 000."""
    with pytest.raises(ValueError, match=r"^f, line \d: a key is nested more than 64 levels"):
        parse_toml(form.format(key), "f")


def test_texts_that_only_look_like_long_keys_are_found_quickly() -> None:
    for text in ("x" * 100_000, '"' * 10_000, "a " * 50_000, ("a." * 63 + " = ") * 500):
        with pytest.raises(ValueError, match="not valid TOML"):
            parse_toml(text, "f")
    assert parse_toml("a.b.c = 1.5\n# a.b.c", "f") == {"a": {"b": {"c": 1.5}}}


def test_a_toml_text_of_megabytes_is_refused() -> None:
    with pytest.raises(ValueError, match="f has 4194305 characters, more than 4194304"):
        parse_toml("#" * ((1 << 22) + 1), "f")


@pytest.mark.parametrize("unit", ["{}", '{"a":1}', "[]", "1"])
def test_json_of_very_many_values_is_refused_before_it_is_read(unit: str) -> None:
    text = "[" + f"{unit}," * (1 << 23) + "1]"
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"f has about \d+ values, more than 8388608"):
            parse_json(text, "f")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1e6


def test_texts_are_visible_unless_they_name_files() -> None:
    text = r'{"a\u001b": ["b\ud800", {"c\n": "d"}], "\u202e": "e\u202e"}'
    assert parse_json(text, "f") == {
        r"a\x1b": [r"b\ud800", {r"c\n": "d"}], r"\u202e": r"e\u202e"
    }  # fmt: skip
    assert parse_json(r'"\ud800"', "f") == r"\ud800"
    assert parse_json(text, "f", as_written=True)["a\x1b"][0] == "b\ud800"
    toml = '"a\\u001b" = ["b\\n", { "c\\n" = "d" }]'
    assert parse_toml(toml, "f") == {r"a\x1b": [r"b\n", {r"c\n": "d"}]}
    assert parse_toml(toml, "f", as_written=True) == {"a\x1b": ["b\n", {"c\n": "d"}]}


def test_keys_that_are_shown_alike_are_one_key() -> None:
    with pytest.raises(ValueError, match="is there twice"):
        parse_json(r'{"\u001b": 1, "\\x1b": 2}', "f")
    with pytest.raises(ValueError, match="is there twice"):
        parse_toml('"\\u001b" = 1\n"\\\\x1b" = 2', "f")


def test_plain_trees_are_read_as_they_are() -> None:
    assert parse_json('{"a": [1, -2.5, null, true]}', "f") == {"a": [1, -2.5, None, True]}
    assert parse_toml("a = { b = [1, 2.5] }", "f") == {"a": {"b": [1, 2.5]}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1\n", "f, line 2: 1 values, and the header has 2 columns"),
        ('a,b\n1,"2\n', "f, line 2: not CSV"),
        ("a,b\n1," + "x" * 200_000, "f, line 2: not CSV (field larger than"),
    ],
)
def test_csv_that_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        list(parse_csv(text, "f", lambda header: None))


def test_rows_are_by_column() -> None:
    rows = parse_csv("a, b\n1,2\n\n 3 ,4\n", "f", lambda header: None)
    assert [*rows] == [(2, {"a": "1", "b": "2"}), (4, {"a": "3", "b": "4"})]


def test_long_names_are_shortened() -> None:
    assert shortened("x" * 40) == "x" * 40
    assert shortened("x" * 41) == "x" * 37 + "..."
