"""What only reaches softmaxes through additions, by hand."""

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import Elementwise, Neuron, Softmax
from hexsim.quantization.masks import paths

SHAPE = (2, 3)


def network(*layers: Layer, outputs: tuple[str, ...] = ("y",)) -> Network:
    """x and u are inputs, k and c constants."""
    written = [name for layer in layers for name in layer.outputs]
    tensors = {name: Tensor(name, SHAPE) for name in ("x", "u", *written)}
    constants = {name: Constant(name, (), lambda: None) for name in ("k", "c")}  # type: ignore[arg-type, return-value]
    return Network("paths", layers, tensors, constants, ("x", "u"), outputs)


def combined(kind: str, *names: str) -> Elementwise:
    *inputs, output = names
    return Elementwise(name=output, inputs=tuple(inputs), outputs=(output,), kind=kind)  # type: ignore[arg-type]


def softmax(source: str, output: str) -> Softmax:
    return Softmax(name=output, inputs=(source,), outputs=(output,), axes=(1,))


def signs(*layers: Layer, outputs: tuple[str, ...] = ("y",)) -> dict[str, int]:
    return dict(paths(network(*layers, outputs=outputs), lambda constant: True).signs)


def test_signs_follow_differences() -> None:
    turned = Neuron(name="n", inputs=("d",), outputs=("n",), function="neg")
    by_tensor = signs(combined("sub", "x", "u", "d"), turned, combined("sum", "n", "k", "a"),
                  softmax("a", "y"))  # fmt: skip
    assert by_tensor == {"x": -1, "u": 1, "d": -1, "n": 1, "k": 1, "a": 1}


def test_what_is_read_or_given_out_elsewhere_has_no_sign() -> None:
    layers = (combined("sum", "x", "k", "a"), softmax("a", "y"), combined("product", "x", "u", "z"))
    assert signs(*layers, outputs=("y", "z")) == {"k": 1, "a": 1}
    assert signs(*layers, outputs=("y", "z", "a")) == {}


def test_what_is_added_and_subtracted_has_no_sign() -> None:
    by_tensor = signs(
        combined("sum", "x", "k", "a"), combined("sub", "a", "k", "b"), softmax("b", "y")
    )
    assert by_tensor == {"x": 1, "a": 1, "b": 1}
    assert signs(combined("sum", "x", "x", "a"), softmax("a", "y")) == {"a": 1}


def test_two_softmaxes_are_one_use() -> None:
    by_tensor = signs(combined("sum", "x", "k", "a"), softmax("a", "y"),
                  combined("sum", "u", "k", "b"),
                  softmax("b", "z"), outputs=("y", "z"))  # fmt: skip
    assert by_tensor == {"x": 1, "u": 1, "k": 1, "a": 1, "b": 1}


def test_factors_of_products_that_are_added() -> None:
    layers = (combined("product", "c", "u", "p"), combined("sum", "x", "p", "a"), softmax("a", "y"))
    traced = paths(network(*layers), lambda constant: True)
    assert (traced.signs, traced.factors) == ({"x": 1, "p": 1, "a": 1}, {"p": "c"})
    assert paths(network(*layers), lambda constant: False).factors == {}
    elsewhere = (*layers, combined("product", "c", "x", "z"))
    assert paths(network(*elsewhere, outputs=("y", "z")), lambda constant: True).factors == {}
    bound = (*layers[:2], combined("max", "a", "c", "b"), softmax("b", "y"))
    assert paths(network(*bound), lambda constant: True).factors == {"p": "c"}
