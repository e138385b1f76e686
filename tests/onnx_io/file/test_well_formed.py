"""What every file must keep: one sentence for each rule, which names the culprit."""

from collections.abc import Callable

import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.source import open_source
from hexsim.onnx_io.file.well_formed import DEEPEST
from tests.fuzz.onnx_hostile import _functions, _nested, _recursive
from tests.fuzz.onnx_seeds import model

Change = Callable[[onnx.ModelProto], object]


def _made(change: Change) -> onnx.ModelProto:
    made = model([helper.make_node("Elu", ["x"], ["y"], name="n", alpha=2.0)], {})
    change(made)
    return made


def _attribute(made: onnx.ModelProto) -> onnx.AttributeProto:
    return made.graph.node[0].attribute[0]


RULES: dict[str, Change] = {
    r"'\\xff\\xfe', which is no text": lambda m: m.graph.node[0].MergeFrom(
        onnx.NodeProto.FromString(b"\x0a\x02\xff\xfe")
    ),
    "an input without a name": lambda m: m.graph.input.add(),
    "an initialiser without a name": lambda m: m.graph.initializer.add(),
    "an output without a name": lambda m: m.graph.output.add(),
    "has an input 'x' 2 times": lambda m: m.graph.input.append(m.graph.input[0]),
    "a graph without outputs": lambda m: m.graph.ClearField("output"),
    "operator set 'ai.onnx' 2 times": lambda m: m.opset_import.add(domain="ai.onnx", version=3),
    "uses opset 0 of operator set 'own'": lambda m: m.opset_import.add(domain="own"),
    r"node 'n' \(\) names no operator": lambda m: m.graph.node[0].ClearField("op_type"),
    r"node 'n' \(Elu\) has no output": lambda m: m.graph.node[0].ClearField("output"),
    r"\(Elu\) writes 'y' 2 times": lambda m: m.graph.node[0].output.append("y"),
    r"an attribute 'alpha' 2 times": lambda m: m.graph.node[0].attribute.append(_attribute(m)),
    "an attribute without name": lambda m: _attribute(m).ClearField("name"),
    "attribute 'alpha' holds another kind": lambda m: _attribute(m).ints.append(3),
    "sparse initialisers": lambda m: m.graph.sparse_initializer.add(),
}


@pytest.mark.parametrize(("words", "change"), RULES.items(), ids=RULES)
def test_a_rule_that_is_broken_is_named(words: str, change: Change) -> None:
    with pytest.raises(HexsimError, match=words):
        open_source(_made(change))


def test_functions_must_have_an_end() -> None:
    for made in (_recursive("F"), _recursive("F", "G", "H")):
        with pytest.raises(HexsimError, match=r"function 'own\.F' calls itself"):
            open_source(made)


def test_functions_count_wherever_they_are_called() -> None:
    assert len(open_source(_functions(2, 10)).graph.node) == 1000
    with pytest.raises(HexsimError, match=r"in the place of their calls, asks for 1e\+13"):
        open_source(_functions(12, 10))


def test_subgraphs_nest_so_far_and_no_further() -> None:
    open_source(_nested(18))
    with pytest.raises(HexsimError, match=f"deeper than {DEEPEST} levels"):
        open_source(_nested(DEEPEST + 2))
