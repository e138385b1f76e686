"""Every layer type, present and future, becomes JSON and comes back the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.dlc.trees import LAYER_TYPES, from_tree, to_tree
from hexsim.graph import domains
from hexsim.graph.ir import Layer
from hexsim.layers import Clamp, Neuron, Opaque, Window
from hexsim.quantization.encodings import AxisEncoding, Encoding
from tests.thorough import examples


def _through_json(tree: object) -> object:
    return json.loads(json.dumps(tree, allow_nan=False))


@examples(30)
@given(st.data())
@pytest.mark.parametrize("kind", LAYER_TYPES.values(), ids=lambda kind: kind.__name__)
def test_every_layer_type_comes_back(kind: type[Layer], data: st.DataObject) -> None:
    fields = {name: st.from_type(hint) for name, hint in domains.hints(kind).items()}
    layer = data.draw(
        st.builds(kind, **fields).filter(lambda candidate: "nan" not in repr(candidate))
    )
    again = from_tree(Layer, _through_json(to_tree(layer)))
    assert type(again) is kind
    assert repr(again) == repr(layer)


def test_known_layers_are_those_of_the_package() -> None:
    assert {"Convolution", "Opaque", "Softmax"} <= LAYER_TYPES.keys()
    assert all(issubclass(kind, Layer) for kind in LAYER_TYPES.values())


def test_infinities_and_bytes_have_a_stated_form() -> None:
    assert to_tree(Clamp(low=0)) == {"low": 0.0, "high": "inf"}
    assert json.dumps(to_tree(Clamp(low=0))) == '{"low": 0.0, "high": "inf"}'
    opaque = Opaque(name="n", inputs=(), outputs=(), op_type="Erf", node=b"\0\xff", shapes=())
    assert to_tree(opaque)["node"] == "AP8="


def test_either_kind_of_encoding_comes_back() -> None:
    hint = Encoding | AxisEncoding
    for encoding in (Encoding.from_range(-1, 2), AxisEncoding((Encoding.symmetric_of(3.0),))):
        assert from_tree(hint, _through_json(to_tree(encoding))) == encoding


@pytest.mark.parametrize(
    ("hint", "tree", "sentence"),
    [
        (Layer, {"class": "Quantum", "name": "q"}, 'unknown type "Quantum"'),
        (
            Layer,
            {"class": "Neuron", "name": "n", "inputs": [], "outputs": []},
            "lacks the field 'function'",
        ),
        (Window, {"kernel": [1, 1], "colour": 3}, "unknown field 'colour'"),
        (Window, {"kernel": [1]}, "kernel is a list of 1; expected 2 values"),
        (Window, {"kernel": [1, "1"]}, r"kernel\[1\] is \"1\"; expected a whole number"),
        (Window, {"kernel": [1, True]}, r"kernel\[1\] is true; expected a whole number"),
        (Window, {"kernel": [1, 0]}, "is 0; expected a whole number from 1 to"),
        (Window, [], "expected an object"),
        (Clamp, {"low": "minus infinity"}, "expected a number"),
        (bytes, "a", "base64"),
        (str | None, 3, "3"),
    ],
)
def test_what_does_not_fit_is_refused(hint: object, tree: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        from_tree(hint, tree)


def test_a_choice_is_checked() -> None:
    tree = to_tree(Neuron(name="n", inputs=("x",), outputs=("y",), function="tanh"))
    with pytest.raises(ValueError, match="expected"):
        from_tree(Layer, {**tree, "function": "tan"})


def test_a_field_with_a_default_may_be_missing() -> None:
    assert from_tree(Window, {"kernel": [3, 2]}) == Window((3, 2))
