"""Two networks differ in exactly what was changed."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import RELU
from hexsim.quantization.model import HtaSection, Model
from hexsim.results.difference import Difference, PropertyChange
from hexsim.studies.difference import difference
from tests.dlc.made import small_network, with_encodings

NAMES = "a", "b"
NOTHING = Difference(first="a", second="b")


def _with_first_layer(network: Network, **changes: object) -> Network:
    first, *others = network.layers
    return network.with_layers([first.replace(**changes), *others])


def _between(network: Network, other: Network) -> Difference:
    return difference(Model(network), Model(other), NAMES)


def test_equal_networks_do_not_differ() -> None:
    changes = _between(small_network(), small_network())
    assert changes == NOTHING
    assert not changes


def test_attributes() -> None:
    network = small_network()
    changes = _between(network, _with_first_layer(network, clamp=RELU))
    name = network.layers[0].name
    change = PropertyChange(layer=name, what="clamp", second="0 to inf")
    assert changes == msgspec.structs.replace(NOTHING, parameters=(change,))
    assert changes


def test_hta_sections() -> None:
    model = with_encodings(small_network())
    names = [layer.name for layer in model.network.layers]
    compiled = replace(model, hta=(HtaSection("sd855", tuple(names[:2]), b"x"),))
    section = f"{names[0]} to {names[1]}"
    change = PropertyChange(layer="sd855", what="HTA sections", second=section)
    assert difference(model, compiled, NAMES) == msgspec.structs.replace(
        NOTHING, sections=(change,)
    )
    assert difference(compiled, compiled, NAMES) == NOTHING


def test_weights() -> None:
    network = small_network()
    name = network.layers[1].parameters[0]
    values = network.constants[name].value().copy()
    values[0, 0, 0, 0] += 0.5
    values[1, 1, 1, 1] -= 2.0
    changed = Constant(name, values.shape, values)
    changes = _between(network, network.with_layers(network.layers, constants=[changed]))
    (change,) = changes.weights
    assert (change.layer, change.what) == (network.layers[1].name, "weight")
    assert (change.count, change.elements) == (2, values.size)
    assert change.largest == pytest.approx(2.0)
    assert msgspec.structs.replace(changes, weights=()) == NOTHING


def test_a_weight_of_another_shape_differs_in_all_elements() -> None:
    network = small_network()
    name = network.layers[-1].parameters[0]
    rows, columns = network.shape(name)
    other = Constant(name, (columns, rows), lambda: np.zeros((columns, rows), np.float32))
    changes = _between(network, network.with_layers(network.layers, constants=[other]))
    (change,) = changes.weights
    assert (change.largest, change.count) == (None, rows * columns)
    assert changes.rows[0].first == "inf"


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
    (output,), (dims,) = changes.outputs, changes.dims
    assert (output.what, output.first, output.second) == ("outputs", last.output, "y")
    assert (dims.what, dims.first, dims.second) == ("dims", "1x10", "1x2x5")


def test_encodings() -> None:
    model = with_encodings(small_network())
    other = replace(model, activations={**model.activations, "in": model.activations["in"]})
    assert not difference(model, other, NAMES)
    changes = difference(Model(small_network()), model, NAMES)
    assert {change.what for change in changes.parameters} == {"output encoding", "weight encoding"}
    coded = {
        layer.name for layer in model.network.layers if {*layer.parameters} & {*model.parameters}
    }
    changed = {(change.layer, change.what) for change in changes.weights}
    assert changed == {(name, "weight") for name in coded}, "codes have values of their own"


@pytest.mark.parametrize("kind", ["parameters", "weights"])
def test_only_the_kinds_that_are_asked_for(kind: str) -> None:
    models = Model(small_network()), with_encodings(small_network())
    whole, part = difference(*models, NAMES), difference(*models, NAMES, (kind,))
    assert getattr(part, kind) == getattr(whole, kind) != ()
    assert {row.difference for row in part.rows} == {kind.capitalize()}


def test_what_is_written_is_read() -> None:
    changes = difference(Model(small_network()), with_encodings(small_network()), NAMES)
    assert Difference.from_json(changes.to_json()) == changes
