"""What a call asks of HMX, HVX and DMA."""

from __future__ import annotations

from pathlib import Path

from hexsim.htp.cost import cost_of
from tests.tensor_graphs import convolution, in_floats


def test_a_dense_convolution_is_tiles_with_padding(tmp_path: Path) -> None:
    """20 inputs count as 32, 40 outputs as 64, 10 x 10 pixels as 16 x 16."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 20, 10, 40)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 256 * 64 * 9 * 32
    assert cost.weight_bytes == 9 * 64 * 32


def test_groups_share_a_tile(tmp_path: Path) -> None:
    """Of 128 channels in 32 groups each tile of 32 outputs reads 32 inputs, not 128."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 128, 8, 128, groups=32)
    assert cost_of(call, network).hmx_macs == 64 * 128 * 9 * 32


def test_groups_that_do_not_fill_tiles_have_their_own(tmp_path: Path) -> None:
    """Two groups of 48 channels are two tiles of 64 x 64; 96 channels are moved in and out."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 96, 8, 96, groups=2)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 64 * 9 * 2 * 64 * 64
    assert cost.weight_bytes == 9 * 2 * 64 * 64
    assert cost.vectors == 0.5 * 2 * 64 * 96 / 128 + 4 * 64 * 96 / 128


def test_a_depthwise_convolution_is_none_of_hmx(tmp_path: Path) -> None:
    """It is a vector per tap and 128 codes, beside those of the input's conversion."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 32, 8, 32, groups=32)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 0
    assert cost.vectors == 9 * 2048 / 128 + 4 * 2048 / 128


def test_floats_take_twice_the_bytes(tmp_path: Path) -> None:
    """Of weights as of activations."""
    network, calls = convolution(str(tmp_path / "m.onnx"), 32, 8, 32)
    (codes,), (floats,) = (
        [cost_of(c, network) for c in some] for some in (calls, in_floats(calls))
    )
    assert floats.weight_bytes == 2 * codes.weight_bytes
    assert floats.port_bytes == 2 * codes.port_bytes
