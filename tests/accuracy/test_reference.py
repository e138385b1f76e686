"""A quantised file over the float weights it was made from."""

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.accuracy.reference import with_reference
from hexsim.accuracy.validation import validate
from hexsim.errors import HexsimError
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.float_layers import with_conversions
from hexsim.quantization.optimizations import Optimization, quantize_optimized
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.digits.networks import load
from tests.digits.scores import calibration
from tests.entry_points.examples import examples
from tests.entry_points.places import feed
from tests.small_networks import Sketch


@pytest.mark.parametrize("bias_bits", [8, 32])
def test_a_file_is_as_far_from_float_as_the_model_it_holds(tmp_path: Path, bias_bits: int) -> None:
    model = culprits.quantized("outlier", bias_bits)
    dlc.write(tmp_path / "q.dlc", model)
    read = dlc.read(tmp_path / "q.dlc").model
    assert read.quantized
    referred = with_reference(read, culprits.network("outlier"))
    memory, alone, against = (
        validate(deployed(m), culprits.inputs()).output_sqnr_db for m in (model, read, referred)
    )
    assert against == pytest.approx(memory)
    assert alone > memory + 6.0, "without it, the rounding of weights is not seen"


def test_convert_layers_are_no_part_of_the_float_file() -> None:
    model = culprits.quantized()
    first = model.network.layers[0].output
    range_ = model.activations[first]
    wide = Encoding.from_range(range_.min, range_.max, 16)
    mixed = with_conversions(replace(model, activations={**model.activations, first: wide}))
    assert mixed.network.layers != model.network.layers
    referred = with_reference(mixed, culprits.network())
    assert referred.network.layers == mixed.network.layers
    assert referred.activations == mixed.activations


@pytest.mark.parametrize("chosen", [["cle"], ["cle", "bc"]])
def test_the_reference_of_an_equalized_file_is_equalized_too(
    tmp_path: Path, chosen: list[Optimization]
) -> None:
    """Else every rescaled tensor would seem to be wrong, though the outputs are not."""
    network = load("relu", 0)
    model = quantize_optimized(network, calibration, optimizations=chosen).model
    dlc.write(tmp_path / "q.dlc", model)
    read = dlc.read(tmp_path / "q.dlc").model
    assert read.quantized
    assert read.equalized
    validation = validate(deployed(with_reference(read, network)), calibration()[:8])
    assert min(row.sqnr_db for row in validation.layers) > 20
    unaware = replace(read, equalized=False, network=network)
    wrong = validate(deployed(unaware), calibration()[:8])
    assert min(row.sqnr_db for row in wrong.layers) < 10


def test_another_network_is_refused() -> None:
    net = Sketch((1, 8, 8, 8))
    with pytest.raises(HexsimError, match="layer 'c0' differs; give the float file"):
        with_reference(culprits.quantized(), net.network(net.pool("in")))


@pytest.mark.parametrize("number", ["-inf", "-10000", "-3.40282e+38"])
def test_masks_of_the_float_file_reach_as_far_as_those_of_the_codes(
    number: str, tmp_path: Path
) -> None:
    """So a sum with a mask is no noise, and a file is as far from float as what it holds."""
    (example,) = (example for example in examples() if example.name == f"masked by {number}")
    model = quantize(example.network, [feed(example)])
    dlc.write(tmp_path / "q.dlc", model)
    referred = with_reference(dlc.read(tmp_path / "q.dlc").model, example.network)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        validation = validate(deployed(referred), [feed(example)])
    assert min(row.sqnr_db for row in validation.layers) > 25.0
