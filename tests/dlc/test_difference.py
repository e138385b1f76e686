"""Two networks differ in exactly what was changed."""

from dataclasses import replace

import numpy as np

from hexsim.dlc.difference import Difference, PropertyChange, WeightChange, difference
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import RELU
from hexsim.quantization.model import HtaSection, Model
from tests.dlc.made import small_network, with_encodings

NOTHING = Difference((), (), (), (), (), ())


def _with_first_layer(network: Network, **changes: object) -> Network:
    first, *others = network.layers
    return network.with_layers([first.replace(**changes), *others])


def _between(network: Network, other: Network) -> Difference:
    return difference(Model(network), Model(other))


def test_equal_networks_do_not_differ() -> None:
    changes = _between(small_network(), small_network())
    assert changes == NOTHING
    assert not changes


def test_attributes() -> None:
    network = small_network()
    changes = _between(network, _with_first_layer(network, clamp=RELU))
    name = network.layers[0].name
    assert changes == replace(
        NOTHING, parameters=(PropertyChange(name, "clamp", None, "0 to inf"),)
    )
    assert changes


def test_hta_sections() -> None:
    model = with_encodings(small_network())
    names = [layer.name for layer in model.network.layers]
    compiled = replace(model, hta=(HtaSection("sd855", tuple(names[:2]), b"x"),))
    change = PropertyChange("sd855", "HTA sections", None, (f"{names[0]} to {names[1]}",))
    assert difference(model, compiled) == replace(NOTHING, sections=(change,))
    assert difference(compiled, compiled) == NOTHING


def test_weights() -> None:
    network = small_network()
    name = network.layers[1].parameters[0]
    values = network.constants[name].value().copy()
    values[0, 0, 0, 0] += 0.5
    values[1, 1, 1, 1] -= 2.0
    changed = Constant(name, values.shape, values)
    changes = _between(network, network.with_layers(network.layers, constants=[changed]))
    (change,) = changes.weights
    assert (change.layer, change.role) == (network.layers[1].name, "weight")
    assert (change.count, change.elements) == (2, values.size)
    np.testing.assert_allclose(change.largest, 2.0, rtol=1e-6)
    assert replace(changes, weights=()) == NOTHING


def test_a_weight_of_another_shape_differs_in_all_elements() -> None:
    network = small_network()
    name = network.layers[-1].parameters[0]
    rows, columns = network.shape(name)
    other = Constant(name, (columns, rows), lambda: np.zeros((columns, rows), np.float32))
    changes = _between(network, network.with_layers(network.layers, constants=[other]))
    expected = WeightChange(
        network.layers[-1].name, "weight", np.inf, rows * columns, rows * columns
    )
    assert changes.weights == (expected,)


def test_unique_layers_dims_and_output_names() -> None:
    network = small_network()
    *others, last = network.layers
    renamed = last.replace(name="other", outputs=("y",))
    shape = network.tensors[last.output].shape
    second = replace(network, outputs=("y",)).with_layers([*others, renamed], [Tensor("y", shape)])
    changes = _between(network, second)
    assert (changes.only_first, changes.only_second) == ((last.name,), ("other",))
    second = replace(network, outputs=("y",)).with_layers(
        [*others, last.replace(outputs=("y",))], [Tensor("y", (1, 2, 5))]
    )
    changes = _between(network, second)
    assert changes.outputs == (PropertyChange(last.name, "outputs", last.outputs, ("y",)),)
    assert changes.dims == (PropertyChange(last.name, "dims", ((1, 10),), ((1, 2, 5),)),)


def test_encodings() -> None:
    model = with_encodings(small_network())
    other = replace(model, activations={**model.activations, "in": model.activations["in"]})
    assert not difference(model, other)
    changes = difference(Model(small_network()), model)
    assert {change.what for change in changes.parameters} == {"output encoding", "weight encoding"}
    coded = {
        layer.name for layer in model.network.layers if {*layer.parameters} & {*model.parameters}
    }
    changed = {(change.layer, change.role) for change in changes.weights}
    assert changed == {(name, "weight") for name in coded}, "codes have values of their own"
