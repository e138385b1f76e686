"""A network runs in parts where its tensors are more than the budget; the values are the same."""

from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim import budget
from hexsim.graph.liveness import parts_within
from hexsim.onnx_io.every_tensor import EveryTensor
from hexsim.onnx_io.float_engine import FloatEngine
from tests.unet import SIZE, unet


def test_each_tensor_comes_once_with_the_values_of_the_whole_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = hexsim.load(unet()).network
    names = [name for layer in network.layers for name in layer.outputs]
    picture = np.random.default_rng(0).normal(0, 1, SIZE).astype(np.float32)
    feed = {name: network.tensors[name].from_source(picture) for name in network.inputs}
    expected = FloatEngine(network, names).run(feed)
    elements = sum(tensor.elements for tensor in network.tensors.values())
    monkeypatch.setattr(budget, "VALUES", budget.Limit(int(0.8 * elements), "elements"))
    tensors = EveryTensor(network, names)
    for _ in range(2):
        pairs = list(tensors.run(feed))
        assert [name for name, _ in pairs] == names
        for name, array in pairs:
            np.testing.assert_array_equal(array, expected[name])


@pytest.mark.parametrize("share", [0.8, 0.95])
def test_quantising_goes_part_by_part_where_tensors_are_many(
    share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The skip connections of a U-Net reach over several parts; the file is the same."""
    model = hexsim.load(unet())
    network = model.network
    elements = sum(tensor.elements for tensor in network.tensors.values())
    most = int(share * elements)
    assert len(parts_within(network, most)) > 1 == len(parts_within(network, elements))
    pictures = [np.random.default_rng(n).normal(0, 1, SIZE).astype(np.float32) for n in range(2)]
    for name, limit in (("whole", elements), ("parts", most)):
        monkeypatch.setattr(budget, "VALUES", budget.Limit(limit, "elements"))
        hexsim.save(hexsim.quantize(model, pictures), tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
