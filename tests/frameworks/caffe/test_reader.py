"""Whole nets of Caffe, old and new, come in with their weights, shapes, phases and names."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from onnx.numpy_helper import to_array

import hexsim
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.frameworks.caffe import read_caffe
from hexsim.layers import BatchNorm, Convolution
from tests.frameworks.caffe import reference
from tests.frameworks.caffe.made import answered, answers, caffemodel, layer, net, stored

RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


X, W, B = normal(1, 3, 9, 9), normal(4, 3, 3, 3), normal(4)
CONV = "convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: 'xavier' } }"
PLAIN = layer("conv", "Convolution", "data", "conv", CONV)
IN_PLACE = layer("relu", "ReLU", "conv", "conv")
ANSWER = np.maximum(reference.convolution(X, W, B), 0)


def close(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


def test_a_blob_that_is_overwritten_ends_as_its_last_version(tmp_path: Path) -> None:
    text = net(PLAIN, IN_PLACE, data=X.shape)
    close(answered(tmp_path, text, {"conv": (W, B)}, data=X)["conv"], ANSWER)


def test_an_input_may_be_overwritten(tmp_path: Path) -> None:
    text = net(layer("abs", "AbsVal", "data", "data"), data=(2, 3))
    x = normal(2, 3)
    (output,) = answered(tmp_path, text, data=x).values()
    close(output, np.abs(x))


@pytest.mark.parametrize(
    "head",
    [
        "input: 'data' input_dim: 1 input_dim: 3 input_dim: 9 input_dim: 9",
        "input: 'data'; input_shape { dim: [1, 3, 9, 9] }",
        'input: "data" input_shape: < dim: 1, dim: 3, dim: 0x9, dim: 9 >',
    ],
)
def test_inputs_that_are_no_layers(head: str, tmp_path: Path) -> None:
    close(
        answered(tmp_path, head + "\n" + PLAIN + IN_PLACE, {"conv": (W, B)}, data=X)["conv"], ANSWER
    )


def test_the_second_format_has_other_names_and_shapes(tmp_path: Path) -> None:
    old = """# as of 2014
    input: "data" input_dim: 1 input_dim: 3 input_dim: 9 input_dim: 9
    layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 blobs_lr: 2
      weight_decay: 1 convolution_param { num_output: 4 kernel_size: 3 } }
    layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
    layers { name: "fc" type: INNER_PRODUCT bottom: "conv" top: "fc"
      inner_product_param { num_output: 2 } }
    """
    matrix, bias = normal(2, 4 * 7 * 7), normal(2)
    path = stored(tmp_path, old, caffemodel({"conv": (W, B), "fc": (matrix, bias)}, v1=True))
    wanted = ANSWER.reshape(1, -1) @ matrix.T + bias
    close(answers(load(path), {"data": X})["fc"], wanted)


@pytest.mark.parametrize(
    "data",
    [
        caffemodel({"conv": (W, B)}, packed=False),
        caffemodel({"conv": (W.astype(np.float64), B)}),
        caffemodel({"conv": (W, B), "other": (B,)}),
    ],
    ids=["number by number", "doubles", "with layers that are not there"],
)
def test_other_ways_to_write_weights(data: bytes, tmp_path: Path) -> None:
    path = stored(tmp_path, net(PLAIN, IN_PLACE, data=X.shape), data)
    close(answers(load(path), {"data": X})["conv"], ANSWER)


def test_a_choice_may_be_a_number(tmp_path: Path) -> None:
    """The numbers are those of Caffe's description: MEAN is 4, AVE is 1, TANH of V1 is 23."""
    mean = layer("m", "Reduction", "data", "m", "reduction_param { operation: 4 axis: 1 }")
    average = layer("p", "Pooling", "data", "p", "pooling_param { pool: 1 global_pooling: true }")
    outputs = answered(tmp_path, net(mean, average, data=X.shape), data=X)
    close(outputs["m"], X.reshape(1, -1).mean(1))
    close(outputs["p"], X.mean((2, 3), keepdims=True))
    head = "input: 'data' input_dim: 1 input_dim: 3 input_dim: 9 input_dim: 9 "
    old = head + "layers { name: 't' type: 23 bottom: 'data' top: 't' }"
    close(answered(tmp_path, old, data=X)["t"], np.tanh(X))


def test_real_numbers_are_read_as_they_are_written(tmp_path: Path) -> None:
    """In doubles, not rounded to singles first: the logarithm of 1.1 is taken in doubles."""
    text = net(layer("e", "Exp", "data", "e", "exp_param { base: 1.1 }"), data=(1, 2))
    graph = read_caffe(stored(tmp_path, text)).proto.graph
    (factor,) = (
        to_array(constant)
        for constant in graph.initializer
        if constant.name.endswith("mul_operand")
    )
    assert factor == np.float32(math.log(1.1))
    assert factor != np.float32(math.log(np.float32(1.1)))


def test_what_nobody_reads_may_hold_anything(tmp_path: Path) -> None:
    """Training, fillers and layers behind the end have fields that no schema here knows."""
    filled = "weight_filler { strange: 1 more < of: ['x', 'y'] it { b: 1 } > } engine: MKL2017"
    conv = f"convolution_param {{ num_output: 4 kernel_size: 3 {filled} }} param {{ x: 1 }}"
    text = net(
        layer("conv", "Convolution", "data", "conv", conv),
        layer("strange", "Strange", "conv", "boxes", "strange_param { relu_param: 1 }"),
        data=X.shape,
    )
    path = stored(tmp_path, text, {"conv": (W, B)})
    model = load(path, output_names=["conv"])
    close(answers(model, {"data": X})["conv"], reference.convolution(X, W, B))


def test_weights_may_be_elsewhere(tmp_path: Path) -> None:
    path = stored(tmp_path, net(PLAIN, IN_PLACE, data=X.shape))
    with pytest.raises(HexsimError, match=r"no caffemodel is beside it; .*caffe_bin"):
        load(path)
    (tmp_path / "w.bin").write_bytes(caffemodel({"conv": (W, B)}))
    close(answers(load(path, caffe_bin=tmp_path / "w.bin"), {"data": X})["conv"], ANSWER)


def test_layers_of_training_are_left_out(tmp_path: Path) -> None:
    training = layer("train", "Data", "", "data", "include { phase: TRAIN }")
    loss = layer("loss", "SoftmaxWithLoss", "conv label", "loss", "exclude { phase: TEST }")
    staged = layer("acc", "Accuracy", "conv label", "acc", "include { phase: TEST stage: 'x' }")
    silent = layer("quiet", "Silence", "label", "")
    text = net(training, PLAIN, IN_PLACE, loss, staged, silent, data=X.shape, label=(1,))
    network = load(stored(tmp_path, text, {"conv": (W, B)})).network
    assert (network.inputs, network.outputs) == (("data",), ("conv",))


def test_batch_norm_and_scale_fold_and_know_their_moments(tmp_path: Path) -> None:
    mean, variance, gamma, beta = normal(4), np.abs(normal(4)) + 0.5, normal(4), normal(4)
    text = net(
        PLAIN,
        layer("bn", "BatchNorm", "conv", "conv"),
        layer("scale", "Scale", "conv", "conv", "scale_param { bias_term: true }"),
        data=X.shape,
    )
    held = {"conv": (W, B), "bn": (mean, variance, np.ones(1)), "scale": (gamma, beta)}
    wanted = reference.batch_norm(reference.convolution(X, W, B), mean, variance, 1)
    wanted = wanted * gamma.reshape(-1, 1, 1) + beta.reshape(-1, 1, 1)
    close(answered(tmp_path, text, held, data=X)["conv"], wanted)

    path = tmp_path / "net.prototxt"
    (folded,) = load(path).network.layers
    assert isinstance(folded, Convolution)
    assert folded.moments is not None
    moments = load(path).network.constants[folded.moments].value()
    np.testing.assert_array_equal(moments, np.stack([beta, np.abs(gamma)]))

    kept = load(path, keep_batch_norm=True)
    assert [type(layer) for layer in kept.network.layers] == [Convolution, BatchNorm, BatchNorm]
    close(answers(kept, {"data": X})["conv"], wanted)


def test_shapes_and_ends_can_be_given(tmp_path: Path) -> None:
    more = layer("strange", "DetectionOutput", "conv", "boxes")
    text = net(PLAIN, layer("relu", "ReLU", "conv", "relu"), more, data=(10, 3, 9, 9))
    path = stored(tmp_path, text, {"conv": (W, B)})
    with pytest.raises(HexsimError, match=r"'strange' \(DetectionOutput\).*output_names"):
        load(path)
    model = load(path, output_names=["relu"], input_dims={"data": (1, 3, 9, 9)})
    close(answers(model, {"data": X})["relu"], ANSWER)
    assert model.network.tensors["data"].source_shape == X.shape


def test_a_prototxt_is_known_by_what_it_says(tmp_path: Path) -> None:
    path = stored(tmp_path, "\n# of mine\n" + net(PLAIN, data=X.shape), {"conv": (W, B)})
    (tmp_path / "net.txt").write_bytes(path.read_bytes())
    network = load(tmp_path / "net.txt").network
    assert network.name == "net"


def test_it_runs_quantised_on_the_dsp(tmp_path: Path) -> None:
    average = "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"
    text = net(PLAIN, IN_PLACE, layer("p", "Pooling", "conv", "p", average), data=X.shape)
    model = hexsim.load(stored(tmp_path, text, {"conv": (W, B)}))
    quantized = hexsim.quantize(model, [{"data": X}])
    simulation = hexsim.simulate(quantized, chip="sd835", runtime="dsp", inputs={"data": X})
    assert simulation.outputs is not None
    wanted = reference.pooling(ANSWER, "AVE", 3, 2, 1)
    np.testing.assert_allclose(simulation.outputs["p"], wanted, atol=0.05 * np.ptp(wanted))
