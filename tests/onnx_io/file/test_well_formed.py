"""What every file must keep: one sentence for each rule, which names the culprit.

A file that speaks of too much is refused before anything looks at its parts.
"""

from collections.abc import Callable, Iterator

import onnx
import pytest
from onnx import TensorProto, helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file import source
from hexsim.onnx_io.file.source import open_source
from hexsim.onnx_io.file.well_formed import DEEPEST, require_counts
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


RELU = helper.make_node("Relu", ["x"], ["y"])


def _value(name: str, dims: int = 2) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1] * dims)


def _model(**parts: object) -> onnx.ModelProto:
    given = {"nodes": [RELU], "inputs": [_value("x")], "outputs": [_value("y")], **parts}
    return helper.make_model(helper.make_graph(name="g", **given))


def _inner(nodes: int) -> onnx.NodeProto:
    branch = helper.make_graph([RELU] * nodes, "b", [], [_value("y")])
    return helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)


def _too_large() -> Iterator[tuple[str, onnx.ModelProto]]:
    small = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    yield (
        "asks for 101, and the budget is 100 inputs and outputs",
        _model(inputs=[_value("x")] * 100),
    )
    yield (
        "asks for 101, and the budget is 100 inputs and outputs",
        _model(outputs=[_value("y")] * 100),
    )
    yield "asks for 201, and the budget is 200 nodes", _model(nodes=[RELU] * 201)
    yield "asks for 201, and the budget is 200 nodes", _model(nodes=[_inner(100)])
    function = helper.make_function("d", "f", ["x"], ["y"], [RELU] * 200, [])
    model = _model()
    model.functions.append(function)
    yield "asks for 201, and the budget is 200 nodes", model
    model = _model()
    model.training_info.add().algorithm.node.extend([RELU] * 200)
    yield "asks for 201, and the budget is 200 nodes", model
    names = r"asks for 1[02]\d{3}, and the budget is 10000 names"
    yield names, _model(initializer=[small] * 10_000)
    yield names, _model(value_info=[_value("v")] * 4000)
    yield names, _model(value_info=[_value("v", 10_000)])
    yield names, _model(nodes=[helper.make_node("Concat", ["x"] * 10_000, ["y"], axis=0)])
    yield names, _model(nodes=[helper.make_node("Split", ["x"], ["y"] * 10_000)])
    many = helper.make_node("Relu", ["x"], ["y"])
    many.attribute.extend([helper.make_attribute("a", 1)] * 10_000)
    yield names, _model(nodes=[many])


@pytest.mark.parametrize(("words", "model"), [*_too_large()])
def test_what_is_too_much_is_refused_first(
    words: str, model: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*given: object) -> None:
        raise AssertionError("somebody looked at the parts before they were counted")

    monkeypatch.setenv("HEXSIM_BUDGET", "0.01")
    for name in ("with_visible_names", "require_well_formed"):
        monkeypatch.setattr(source, name, nobody)
    with pytest.raises(HexsimError, match=words):
        open_source(model)


def test_constants_that_an_old_file_lists_as_inputs_are_none() -> None:
    weights = [helper.make_tensor(f"w{k}", TensorProto.FLOAT, [1], [1.0]) for k in range(12_000)]
    inputs = [_value("x"), *(_value(tensor.name) for tensor in weights)]
    require_counts(_model(inputs=inputs, initializer=weights), "it")


def test_graphs_in_graphs_are_counted_without_end_of_the_stack() -> None:
    node = _inner(1)
    for _ in range(20):
        graph = helper.make_graph([node], "b", [], [_value("z")])
        node = helper.make_node("If", ["c"], ["z"], then_branch=graph)
    require_counts(_model(nodes=[node]), "it")
