"""Files that TensorFlow and PyTorch write answer here what they answer there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.dlc.loading import load
from hexsim.quantization.model import Model
from tests.frameworks.caffe.made import answers

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)
IMAGE = RNG.standard_normal((1, 16, 16, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def keras():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    tf = pytest.importorskip("tensorflow", reason="pip install 'hexsim[tensorflow]'")
    pytest.importorskip("tf2onnx", reason="pip install 'hexsim[tensorflow]'")
    tf.random.set_seed(1)
    given = tf.keras.Input((16, 16, 3), batch_size=1, name="image")
    x = tf.keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(given)
    x = tf.keras.layers.DepthwiseConv2D(3, padding="same")(x)
    x = tf.keras.layers.Add()([tf.keras.layers.ReLU(6.0)(x), tf.keras.layers.Conv2D(8, 1)(x)])
    x = tf.keras.layers.Dense(5)(tf.keras.layers.GlobalAveragePooling2D()(x))
    return tf, tf.keras.Model(given, tf.keras.layers.Softmax()(x))


def answer(model: Model, image: np.ndarray) -> np.ndarray:
    (name,) = model.network.inputs
    (output,) = answers(model, {name: image}).values()
    assert model.network.tensors[name].source_shape == image.shape
    return output


def check(model: Model, image: np.ndarray, wanted: np.ndarray) -> None:
    """In floats it answers what the framework does, on the DSP nearly that."""
    np.testing.assert_allclose(answer(model, image), wanted, atol=1e-6)
    (name,) = model.network.inputs
    quantized = hexsim.quantize(model, [{name: image}])
    outputs = hexsim.simulate(quantized, chip="sd835", runtime="dsp", inputs={name: image}).outputs
    assert outputs is not None
    (got,) = outputs.values()
    np.testing.assert_allclose(got, wanted, atol=0.03 * np.ptp(wanted))


def test_tensorflow_lite(keras, tmp_path: Path) -> None:
    tf, net = keras
    path = tmp_path / "m.tflite"
    path.write_bytes(tf.lite.TFLiteConverter.from_keras_model(net).convert())
    check(load(path), IMAGE, net(IMAGE).numpy())


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_files_of_keras(keras, ending: str, tmp_path: Path) -> None:
    tf, net = keras
    path = tmp_path / f"m.{ending}"
    net.save(path)
    check(load(path), IMAGE, net(IMAGE).numpy())
    given = tf.keras.Input((4,), batch_size=1)
    tf.keras.Model(given, tf.keras.layers.Lambda(lambda x: x * 2)(given)).save(path)
    with pytest.raises(hexsim.HexsimError, match=r"Lambda.* are Python code, which is not run"):
        load(path)


@pytest.mark.parametrize("kind", ["external", "virtual", "link"])
def test_weights_of_keras_come_from_its_own_file(keras, kind: str, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="pip install 'hexsim[tensorflow]'")
    path, other = tmp_path / "m.h5", tmp_path / "other.h5"
    keras[1].save(path)
    with h5py.File(path, "r+") as file, h5py.File(other, "w") as others:
        datasets: list[str] = []
        file.visititems(
            lambda name, item: datasets.append(name) if isinstance(item, h5py.Dataset) else None
        )
        shape = file[datasets[0]].shape
        del file[datasets[0]]
        others["secret"] = np.zeros(shape, np.float32)
        if kind == "external":
            size = (str(other), 0, 4 * int(np.prod(shape)))
            file.create_dataset(datasets[0], shape=shape, dtype="<f4", external=[size])
        elif kind == "virtual":
            layout = h5py.VirtualLayout(shape, "f4")
            layout[...] = h5py.VirtualSource(str(other), "secret", shape)
            file.create_virtual_dataset(datasets[0], layout)
        else:
            file[datasets[0]] = h5py.ExternalLink(str(other), "/secret")
    with pytest.raises(hexsim.HexsimError, match=r"in other files|to another file"):
        load(path)


def test_a_checkpoint(keras, tmp_path: Path) -> None:
    tf, _ = keras
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        image = v1.placeholder(tf.float32, (None, 16, 16, 3), name="image")
        filters = v1.get_variable("filters", (3, 3, 3, 4), use_resource=False)
        v1.nn.relu(v1.nn.conv2d(image, filters, padding="SAME"), name="out")
        session.run(v1.global_variables_initializer())
        wanted = session.run("out:0", {image: IMAGE})
        v1.train.Saver().save(session, str(tmp_path / "m.ckpt"))
    path = tmp_path / "m.ckpt.meta"
    with pytest.raises(hexsim.HexsimError, match=r"of a TensorFlow checkpoint.*output_names"):
        load(path)
    check(load(path, input_dims={"image": IMAGE.shape}, output_names=["out"]), IMAGE, wanted)
    (tmp_path / "m.ckpt.index").unlink()
    with pytest.raises(hexsim.HexsimError, match=r"needs the files m\.ckpt\.meta, m\.ckpt\.index"):
        load(path)


def test_tensorflow_lite_with_its_own_ranges_on_the_dsp(keras, tmp_path: Path) -> None:
    tf, net = keras
    converter = tf.lite.TFLiteConverter.from_keras_model(net)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([IMAGE] for _ in range(3))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    path = tmp_path / "m.tflite"
    path.write_bytes(converter.convert())
    lite = tf.lite.Interpreter(str(path))
    lite.allocate_tensors()
    given, made = lite.get_input_details()[0], lite.get_output_details()[0]
    (step, zero), (out_step, out_zero) = given["quantization"], made["quantization"]
    codes = np.clip(np.round(IMAGE / step) + zero, -128, 127).astype(np.int8)
    lite.set_tensor(given["index"], codes)
    lite.invoke()
    wanted = (lite.get_tensor(made["index"]).astype(np.float32) - out_zero) * out_step
    model = load(path)
    (name,) = model.network.inputs
    quantized = hexsim.quantize(model, [{name: IMAGE}])
    outputs = hexsim.simulate(quantized, chip="sd835", runtime="dsp", inputs={name: IMAGE}).outputs
    assert outputs is not None
    (got,) = outputs.values()
    assert model.own_overrides
    np.testing.assert_allclose(got, wanted, atol=2.01 * out_step)


def test_a_saved_model_and_a_frozen_graph(keras, tmp_path: Path) -> None:
    tf, net = keras
    constants = pytest.importorskip("tensorflow.python.framework.convert_to_constants")
    net.export(str(tmp_path / "saved"))
    check(load(tmp_path / "saved"), IMAGE, net(IMAGE).numpy())
    spec = tf.TensorSpec(IMAGE.shape, tf.float32, name="image")
    concrete = tf.function(lambda image: net(image)).get_concrete_function(spec)
    frozen = constants.convert_variables_to_constants_v2(concrete)
    (tmp_path / "m.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    model = load(tmp_path / "m.pb", input_dims={"image": IMAGE.shape}, output_names=["Identity:0"])
    check(model, IMAGE, net(IMAGE).numpy())


def test_fake_quant_nodes_are_encodings(keras, tmp_path: Path) -> None:
    tf, _ = keras

    def network(image):
        ranged = tf.quantization.fake_quant_with_min_max_args(image, -2.0, 2.0)
        return tf.quantization.fake_quant_with_min_max_args(tf.nn.relu(ranged), 0.0, 1.5)

    spec = tf.TensorSpec(IMAGE.shape, tf.float32, name="image")
    graph = tf.function(network).get_concrete_function(spec).graph.as_graph_def()
    (tmp_path / "m.pb").write_bytes(graph.SerializeToString())
    model = load(tmp_path / "m.pb", input_dims={"image": IMAGE.shape}, output_names=["Identity"])
    assert len(model.own_overrides) == 2


def test_fake_quant_nodes_over_weights_are_encodings(keras, tmp_path: Path) -> None:
    """Per tensor, narrow over what is computed, and per channel."""
    tf, _ = keras
    fake = tf.quantization.fake_quant_with_min_max_vars
    dense, deep, matrix = (
        RNG.standard_normal(shape).astype(np.float32)
        for shape in ((3, 3, 3, 8), (3, 3, 8, 1), (8, 5))
    )

    def network(image):
        x = tf.nn.conv2d(image, fake(tf.constant(dense), -2.0, 1.7), 2, "SAME", name="conv")
        x = tf.nn.relu6(tf.nn.bias_add(x, tf.ones(8)))
        weight = fake(tf.constant(deep) * 1.3, -3.0, 3.0, narrow_range=True)
        x = tf.reduce_mean(tf.nn.depthwise_conv2d(x, weight, [1] * 4, "SAME"), [1, 2])
        each = tf.quantization.fake_quant_with_min_max_vars_per_channel
        return tf.matmul(x, each(tf.constant(matrix), [-2.0] * 5, [1.0, 2.0, 1.5, 1.2, 3.0]))

    spec = tf.TensorSpec(IMAGE.shape, tf.float32, name="image")
    concrete = tf.function(network).get_concrete_function(spec)
    (tmp_path / "m.pb").write_bytes(concrete.graph.as_graph_def().SerializeToString())
    model = load(tmp_path / "m.pb", input_dims={"image": IMAGE.shape}, output_names=["Identity"])
    steps = {
        tuple(round(item.scale, 6) for item in override.ranges)
        for override in model.own_overrides.parameters.values()
    }
    each = tuple(round((high + 2) / 255, 6) for high in (1.0, 2.0, 1.5, 1.2, 3.0))
    assert steps == {(round(3.7 / 255, 6),), (round(6 / 254, 6),), each}
    np.testing.assert_allclose(answer(model, IMAGE), network(IMAGE).numpy(), atol=1e-5)


@pytest.fixture(scope="module")
def module():
    torch = pytest.importorskip("torch", reason="pip install 'hexsim[pytorch]'")
    pytest.importorskip("onnxscript", reason="pip install 'hexsim[pytorch]'")
    torch.manual_seed(1)
    return torch, torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AvgPool2d(3, 2, 1)
    ).eval()


def test_programs_and_scripts_of_pytorch(module, tmp_path: Path) -> None:
    torch, net = module
    image = torch.randn(1, 3, 9, 9)
    wanted = net(image).detach().numpy()
    torch.export.save(torch.export.export(net, (image,)), tmp_path / "m.pt2")
    check(load(tmp_path / "m.pt2"), image.numpy(), wanted)
    torch.jit.save(torch.jit.trace(net, image), tmp_path / "m.pt")
    with pytest.raises(hexsim.HexsimError, match=r"TorchScript module.*input_dims"):
        load(tmp_path / "m.pt")
    script = load(tmp_path / "m.pt", input_dims={"image": (1, 3, 9, 9)})
    check(script, image.numpy(), wanted)
    torch.save(net, tmp_path / "pickled.pt")
    with pytest.raises(hexsim.HexsimError, match="to read it is to run what it holds"):
        load(tmp_path / "pickled.pt")
