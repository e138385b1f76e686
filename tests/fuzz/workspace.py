"""A folder with a good file of every kind that a command reads, most of them written by commands.

Each case of the fuzz gets a copy, in which one file is damaged.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from benchmarks.conformity_commands import run
from hexsim import dlc
from hexsim.datasheets import background, chips, stacks
from hexsim.datasheets.datasheet import datasheet_text
from hexsim.deployment.platform import Platform
from hexsim.quantization.model import Model
from hexsim.quantization.quantizer import quantize
from tests.deployment.phone_profile.files import FILES as PROFILES
from tests.dlc.made import small_network
from tests.frameworks.caffe.made import layer, net, stored
from tests.llm.tiny_decoder import CONFIG, Export, tiny_decoder

SPACE = """\
networks = ["q.dlc"]
chips = ["sd855"]
stacks = ["snpe-1.30"]
runtimes = ["aip"]
cuts = ["automatic", "fastest"]
draws = 1
seed = 0

[workload]
instances = [2]
background = [["camera"], ["audio"]]
perf_profiles = ["burst"]
buffers = ["tf8"]
idle_ms = [0.0]
inferences = 2

[constants."dsp.hvx.contexts"]
values = [1, 2]

[constants."memory.ddr_peak_bytes_per_s"]
low = 10e9
high = 60e9
steps = 2
scale = "log"

[constants."memory.efficiency"]
drawn = true
"""
SMALL_SPACE = """\
networks = ["q.dlc", "phone.onnx"]
language_models = ["config.json"]
chips = ["sd8gen2"]
runtimes = ["htp"]
vtcm_mb = [2, 4.5]
draws = 2
anchor = "phone.onnx=qnn.csv"

[language_model]
weights = ["w4", "w8"]
contexts = [512]
blocks = [64]
prompt = 100

[constants."memory.efficiency"]
drawn = true
"""
ROWS = "runtime,model,latency_ms,batch,resolution_ms\ndsp,q.dlc,0.61,1,0.01\ncpu,q.dlc,1.2,1,0.1\n"
LAYERS = """\
network,chip,stack,profile,layer,index,type,output_nchw,dsp_us,dsp_min_us,dsp_max_us,cpu_us,gpu_us
q,sd855,snpe-1.30,burst,in,0,data,1x3x8x8,9,8,10,0,0
q,sd855,snpe-1.30,burst,convolution0,1,convolutional,1x4x8x8,40,38,42,200,100
q,sd855,snpe-1.30,burst,convolution1,2,convolutional,1x6x4x4,50,48.5,52,300.5,120
"""
_GRAPHS = {"graphs": [{"graph_names": ["net"], "vtcm_mb": 4}]}
_EXTENSIONS = {"backend_extensions": {"config_file_path": "htp.json"}}
_BENCHMARK = {
    "Name": "N", "HostRootPath": "h", "HostResultsDir": "h/r", "DevicePath": "/d",
    "Devices": ["sd835"], "HostName": "localhost", "Runs": 2,
    "Model": {"Name": "Q", "Dlc": "q.dlc", "InputList": "list.txt", "Data": ["0.raw", "1.raw"]},
    "Runtimes": ["CPU", "DSP"], "Measurements": ["timing", "mem"], "CpuFallback": True,
    "BufferTypes": ["float", ""], "PerfProfile": "burst", "ProfilingLevel": "detailed",
}  # fmt: skip
_TRUTH = {
    "images": [
        {"id": 7, "file_name": "a cat.jpg", "width": 200, "height": 100},
        {"id": 8, "file_name": "b.png", "width": 20, "height": 10},
    ],
    "annotations": [
        {"id": 0, "image_id": 7, "category_id": 1, "bbox": [10.0, 20.0, 30.0, 40.0], "iscrowd": 0},
        {"id": 1, "image_id": 8, "category_id": 2, "bbox": [1, 2, 3.5, 4], "iscrowd": 0},
    ],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
}
_DECODERS: Mapping[str, Export] = {
    "decoder.onnx": Export(),
    "prefill.onnx": Export(bits=None, tokens=8, packed=True, rotary_inside=True),
    "step.onnx": Export(bits=8, tokens=1, past=7, tied=True, head_norms=True, bias=True),
}
_PREPARING: Sequence[str] = (
    "bench --chip sd835 q.dlc --runtime cpu,dsp --timing-only --json bench.json",
    "profile q.dlc --chip sd8gen2 --runtime htp --json profile.json",
    "llm config.json --json llm.json",
    "sweep space.toml -o swept.parquet --workers 1",
    "sweep small_space.toml -o swept_small.parquet --workers 1",
    "snpe-net-run --container q.dlc --input_list list.txt --output_dir log --use_dsp",
    "qnn-context-binary-generator --dlc_path q.dlc --binary_file ctx --output_dir . "
    "--chip sd8gen2 --backend libQnnHtp.so",
    "convert m.onnx --quantization-overrides overrides.json -o with_overrides.dlc",
    "quantize m.dlc --seeded-inputs -o sections.dlc --enable-hta --chip sd855",
)


def make(folder: Path) -> None:
    """Write the files into the current folder, which is `folder`.

    Raises RuntimeError if a command that makes one of them does not.
    """
    _networks(folder)
    _texts(folder)
    _inputs(folder)
    for line in _PREPARING:
        effect, said = run(line)
        if effect != "answered":
            raise RuntimeError(f"{line}: {said}")
    shutil.move(folder / "log" / "SNPEDiag_0.log", folder / "diag.log")
    shutil.rmtree(folder / "log")
    _detections(folder)


def _networks(folder: Path) -> None:
    network = small_network()
    dlc.write(folder / "m.dlc", Model(network))
    feed = {"in": np.linspace(-1, 1, 192, dtype=np.float32).reshape(1, 8, 8, 3)}
    dlc.write(folder / "q.dlc", quantize(network, [feed]))
    for name, height in (("m.onnx", 8), ("phone.onnx", 32)):
        onnx.save(_image_network(height), folder / name)
    for name, export in _DECODERS.items():
        onnx.save(tiny_decoder(export), folder / name)
    weights = {"conv": [np.ones((2, 3, 3, 3), np.float32), np.arange(2, dtype=np.float32)]}
    convolution = layer(
        "conv", "Convolution", "data", "c", "convolution_param { num_output: 2 kernel_size: 3 }"
    )
    pool = layer(
        "pool", "Pooling", "c", "p", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }"
    )
    text = net(convolution, pool, layer("prob", "Softmax", "p", "prob"), data=(1, 3, 8, 8))
    stored(folder, text, weights)


def _image_network(height: int) -> onnx.ModelProto:
    """The network of the phones' profiles."""
    weight = np.random.default_rng(0).normal(size=(4, 3, 3, 3)).astype(np.float32)
    sizes = [1, 3, height, height]
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    conv = "/block.0/conv/Conv"
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name=conv, pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="act"),
        helper.make_node("MaxPool", ["r"], ["y"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
    ]
    weights = [numpy_helper.from_array(weight, "w")]
    graph = helper.make_graph(nodes, "small", [image], [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _overrides() -> Mapping[str, str]:
    """Encodings for m.onnx in the formats of AIMET."""
    old = {"bitwidth": 8, "min": -1.0, "max": 2.0, "is_symmetric": "False", "dtype": "int"}
    weight = {"bitwidth": 8, "min": -1.0, "max": 1.0, "is_symmetric": "True", "dtype": "int"}
    new = {"name": "x", "enc_type": "PER_TENSOR", "dtype": "INT", "bw": 8, "is_sym": False}
    new |= {"scale": [0.1], "offset": [-20]}
    newest = [
        {"name": "x", "output_dtype": "uint8", "y_scale": 0.1, "y_zero_point": 20},
        {"name": "w", "output_dtype": "int8", "axis": 0, "y_scale": [0.1, 0.2, 0.1, 0.1]},
    ]
    listed = [new, {**new, "name": "r"}]
    trees = {
        "overrides.json": {
            "activation_encodings": {"x": [old], "c": [{"bitwidth": 16, "dtype": "float"}]},
            "param_encodings": {"w": [weight] * 4},
        },
        "overrides1.json": {
            "version": "1.0.0",
            "activation_encodings": listed,
            "param_encodings": [{**new, "name": "w", "is_sym": True, "offset": [-128]}],
        },
        "overrides2.json": {"version": "2.0.0", "encodings": newest},
    }
    return {name: json.dumps(tree, indent=1) for name, tree in trees.items()}


def _texts(folder: Path) -> None:
    sheets = {
        "chip.toml": chips.load("sd855"),
        "chip_htp.toml": chips.load("sd8gen2"),
        "stack.toml": stacks.load("snpe-1.30"),
        "stack_htp.toml": Platform.load("sd8gen2").stack,
        "load.toml": background.load("camera"),
    }
    written = {name: datasheet_text(sheet, "a datasheet") for name, sheet in sheets.items()}
    trees = {
        "config.json": CONFIG,
        "config_old.json": {**CONFIG, "model_type": "gemma2", "tie_word_embeddings": True},
        "benchmark.json": _BENCHMARK,
        "htp.json": _GRAPHS,
        "backend.json": _EXTENSIONS,
        "truth.json": _TRUTH,
    }
    texts = {
        **written,
        **PROFILES,
        **_overrides(),
        **{name: json.dumps(tree, indent=1) for name, tree in trees.items()},
        "space.toml": SPACE,
        "small_space.toml": SMALL_SPACE,
        "rows.csv": ROWS,
        "layers.csv": LAYERS,
        "list.txt": "0.raw\n1.raw\n",
        "named.txt": "#fullyconnected3_out\nin:=0.raw\n1.raw\n",
        "labels.txt": "3\n7\n",
        "names.txt": "".join(f"class {number}\n" for number in range(10)),
        "picture_labels.txt": "a.png 1\nb.png 9\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


def _inputs(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for number in range(2):
        rng.standard_normal(192).astype("<f4").tofile(folder / f"{number}.raw")
    np.save(folder / "mean.npy", np.arange(192, dtype=np.float32).reshape(3, 8, 8))
    for name in ("x", "y"):
        rng.standard_normal(192).astype("<f4").tofile(folder / f"{name}.in")
    (folder / "x.txt").write_text("x.in\ny.in\n")
    (folder / "pictures").mkdir()
    for name in ("a.png", "b.png"):
        pixels = rng.integers(0, 256, (10, 12, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "pictures" / name)


def _detections(folder: Path) -> None:
    """What a run of a detector wrote for the two pictures of truth.json."""
    arrays = {
        "boxes": [(0.2, 0.05, 0.6, 0.2), (0, 0, 1, 1)],
        "scores": [0.9, 0.5],
        "classes": [0, 1],
    }
    for number in range(2):
        place = folder / "results" / f"Result_{number}"
        place.mkdir(parents=True)
        for name, values in arrays.items():
            np.array(values, np.float32).tofile(place / f"{name}.raw")
    (folder / "seen.txt").write_text("prepared/a_cat.raw\nprepared/b.raw\n")
