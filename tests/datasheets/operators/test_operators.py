"""Tables of operators: their words, releases, and that their keys are layers that exist."""

from typing import Any

import onnx
import pytest

from hexsim.datasheets import chips, operators, stacks
from hexsim.datasheets.operators import Operators, OperatorTable, Verdict, column
from hexsim.errors import HexsimError
from hexsim.layers import TYPES
from hexsim.layers._functions import FUNCTIONS

TREE: dict[str, Any] = {
    "name": "t",
    "title": "T",
    "unlisted": {"gpu": "assumed", "dsp": "refused"},
    "sources": {"s": {"text": "a list", "confidence": "documented"}},
    "rows": {
        "pool": {"gpu": "no", "dsp": "1.10", "source": "s"},
        "neuron: exp": {"dsp": "by 1.43", "source": "s"},
        "neuron": {"dsp": "no", "source": "s"},
    },
}


def _of(release: str | None) -> Operators:
    return Operators("T 1", OperatorTable.from_tree(TREE, "t.toml"), release)


@pytest.mark.parametrize(
    ("release", "taken"), [("1.9", False), ("1.10", True), ("1.11", True), (None, True)]
)
def test_from_a_release_on(release: str | None, taken: bool) -> None:
    verdict = _of(release).verdict("pool", "", "dsp")
    assert verdict == Verdict(taken, "a list", "documented", "1.10")


def test_before_the_first_table_that_names_it_a_layer_is_assumed() -> None:
    early, late = (_of(release).verdict("neuron", "exp", "dsp") for release in ("1.30", "1.43"))
    assert early is not None
    assert late is not None
    assert early.taken
    assert late.taken
    assert (early.confidence, late.confidence) == ("assumed", "documented")


def test_a_variant_goes_before_its_type() -> None:
    log = _of(None).verdict("neuron", "log", "dsp")
    assert log == Verdict(False, "a list", "documented")
    assert _of(None).verdict("neuron", "exp", "gpu") is None, "its row has no word on the GPU"


def test_what_has_no_row_is_refused_where_the_list_is_closed() -> None:
    assert _of(None).verdict("lrn", "", "gpu") is None
    assert _of(None).verdict("lrn", "", "dsp") == Verdict(
        False, "not in the list of T", "documented"
    )


def test_a_source_must_be_known() -> None:
    rows = {"pool": {"gpu": "no", "source": "x"}}
    with pytest.raises(HexsimError, match=r"t\.toml.*a source of this file for 'pool', not 'x'"):
        OperatorTable.from_tree({**TREE, "rows": rows}, "t.toml")
    rows = {"pool": {"gpu": "maybe", "source": "s"}}
    with pytest.raises(HexsimError, match=r"rows\.pool\.gpu.*'maybe'"):
        OperatorTable.from_tree({**TREE, "rows": rows}, "t.toml")


def test_columns() -> None:
    assert {target: column(target) for target in ("cpu", "hta", "gpu_fp16", "aip", "fxp_cpu")} == {
        "cpu": None,
        "hta": None,
        "gpu_fp16": "gpu",
        "aip": "dsp",
        "fxp_cpu": "dsp",
    }


@pytest.mark.parametrize("family", operators.names())
def test_rows_are_layers(family: str) -> None:
    types = {kind.type for kind in TYPES if isinstance(kind.type, str)} | {"argmax", "argmin"}
    for key, row in operators.load(family).rows.items():
        if row.htp and not (row.gpu or row.dsp):
            assert onnx.defs.has(key.partition(": ")[0]), key
            continue
        name, _, variant = key.partition(": ")
        assert name in types, key
        assert name != "neuron" or variant in FUNCTIONS, key


def test_stacks_name_tables_that_exist() -> None:
    for name in stacks.names():
        assert stacks.load(name).operators.name == name
    with pytest.raises(HexsimError, match="snpe-2"):
        _ = stacks.load("snpe-1.30").taking("snpe-2").operators


def test_who_has_a_layer_by_its_table() -> None:
    assert stacks.that_have("recurrent", "lstm", "dsp") == (
        "aihub-tflite",
        "qnn-2.45",
        "snpe-1.63",
    )
    assert stacks.that_have("recurrent", "rnn", "dsp") == ()


@pytest.mark.parametrize("family", operators.names())
def test_elements_are_operators_with_one_entry_each(family: str) -> None:
    table = operators.load(family)
    types = {kind.type for kind in TYPES if isinstance(kind.type, str)} | {"argmax", "argmin"}
    seen = set()
    for entry in table.elements:
        assert set(entry.chips) <= set(chips.names())
        assert "; " not in table.sources[entry.source].text, "reasons are joined by it"
        for key in entry.operators:
            name, _, variant = key.partition(": ")
            assert onnx.defs.has(name) or name in types or (name == "*" and entry.chips), key
            assert name != "neuron" or variant in FUNCTIONS, key
            cells = {(key, element, entry.chips) for element in entry.types}
            assert not seen & cells, key
            seen |= cells


QNN = operators.load("qnn-2")


@pytest.mark.parametrize(
    ("chip", "arch", "keys", "element", "reason"),
    [
        ("a", "v69", ("matmul",), "int16", None),
        ("a", "v73", ("matmul",), "int16", None),
        ("a", "v68", ("matmul",), "int8", None),
        ("a", "v79", ("Asin",), "float16", "V79, no architecture is known"),
        ("a", "v68", ("GridSample: 5 axes", "GridSample"), "float16", "GridSample in float16"),
        ("a", "v68", ("GridSample: 4 axes", "GridSample"), "float16", None),
        ("qcm6490", "v68", ("reshape",), "float16", "float16 is not taken by qcm6490 (V68)"),
        ("sa8295p", "v68", ("reshape",), "float16", None),
        ("a", "v68", ("a new one",), "float16", None),
    ],
)
def test_what_a_processor_refuses_by_type_of_element(
    chip: str, arch: Any, keys: tuple[str, ...], element: Any, reason: str | None
) -> None:
    refusal = QNN.element_refusal(keys, element, chip, arch)
    assert refusal is None if reason is None else reason in (refusal or "")
