"""Fields are declared once; files, tables and reading follow from the declaration."""

import copy
import json
import math
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from hexsim.errors import HexsimError
from hexsim.results.document import Document, columns, csv_of, plain
from hexsim.texts.fields import Bytes, Microseconds, Part, Share, about, fields, part_of


class Layer(Part):
    """A layer."""

    name: Annotated[str, about("its name", label="layer")]
    us: Annotated[Microseconds, about("its time", label="time", shown="ms")]
    moved_bytes: Annotated[Bytes, about("what it moves", label="moved", shown="KiB")] = 0
    parts_us: Annotated[Mapping[str, Microseconds], about("its parts")] = {}


class Answer(Document):
    """An answer."""

    WRITTEN_BY: ClassVar[str] = "hexsim ask"
    ROWS: ClassVar[str] = "layers"

    share: Annotated[Share | None, about("a share")] = None
    layers: Annotated[tuple[Layer, ...], about("the layers")] = ()
    by_name: Annotated[Mapping[str, Layer], about("the same")] = {}
    timing: Annotated[object, about("what no file holds", stored=False)] = None

    @property
    def title(self) -> str:
        return f"{len(self.layers)} layers"


CONV = Layer(name="conv", us=1234.5, moved_bytes=2048, parts_us={"ddr": 1.5})


def test_a_field_knows_its_unit_and_how_tables_show_it() -> None:
    declared = fields(Layer)
    assert [declared[name].heading for name in ("name", "us", "moved_bytes", "parts_us")] == [
        *("layer", "time (ms)", "moved (KiB)", "parts us (us)"),
    ]
    assert declared["us"].text(CONV.us) == "1.23"
    assert declared["moved_bytes"].text(CONV.moved_bytes) == "2.00"
    assert declared["us"].text(None) == ""


@pytest.mark.parametrize(
    ("name", "expected"), [("layers", (Layer, "[]")), ("by_name", (Layer, "{}")), ("share", None)]
)
def test_parts_below_a_field_are_found(name: str, expected: object) -> None:
    assert part_of(fields(Answer)[name].type) == expected


def test_json_has_the_stored_keys_and_null_for_what_is_not_finite() -> None:
    tree = json.loads(Answer(share=math.inf, layers=(CONV,), timing=object()).to_json())
    assert list(tree) == ["hexsim_version", "share", "layers", "by_name"]
    assert tree["share"] is None
    assert tree["layers"] == [plain(CONV)]


def test_what_is_written_is_read_and_other_keys_are_ignored() -> None:
    answer = Answer(share=0.5, layers=(CONV,), by_name={"a": CONV})
    text = answer.to_json()
    assert Answer.from_json(text) == answer
    assert Answer.from_json(text.replace('"share"', '"later": [1], "timing": 3, "share"')) == answer


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", r"a.json: expected 'object', got 'array'; give the JSON that hexsim ask wrote"),
        ('{"layers": [{"name": "a"}]}', r"a.json: key 'layers\[0\]': there is no key 'us'"),
        ('{"share": "a"}', r"a.json: key 'share': expected 'float . null', got 'str'"),
        ('{"share": NaN}', "a.json"),
        ("{", "a.json, line 1"),
    ],
)
def test_a_file_of_something_else_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        Answer.from_json(text, "a.json")


def test_csv_has_what_fits_a_cell() -> None:
    assert list(columns(Layer).values()) == ["name", "us", "moved_bytes"]
    assert csv_of((CONV,)) == "name,us,moved_bytes\nconv,1234.5,2048\n"


def test_a_text_is_also_written_to_a_path(tmp_path: Path) -> None:
    answer = Answer(layers=(CONV,))
    file = tmp_path / "a.json"
    assert answer.to_json(file) == file.read_text() == answer.to_json()
    answer.save(tmp_path / "b.json")
    assert (tmp_path / "b.json").read_text() == answer.to_json()
    with pytest.raises(HexsimError, match="cannot write"):
        answer.to_json(tmp_path / "gone" / "a.json")


def test_parts_are_frozen_and_take_keywords_only() -> None:
    with pytest.raises(AttributeError):
        CONV.us = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        Layer("conv", 1.0)  # type: ignore[misc]


def test_a_mistyped_attribute_is_answered_with_the_nearest() -> None:
    answer: Any = Answer(layers=(CONV,))
    with pytest.raises(AttributeError, match=r"Answer has no attribute 'layer'; it has layers$"):
        _ = answer.layer
    with pytest.raises(AttributeError, match=r"'xyz'; it has share, layers, by_name, timing$"):
        _ = answer.xyz
    assert getattr(answer, "_private", None) is None
    assert pickle.loads(pickle.dumps(answer)) == copy.copy(answer) == answer


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match="cannot read results"):
        Answer.load(tmp_path / "gone.json")
