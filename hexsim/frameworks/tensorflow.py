"""Converts TensorFlow Lite files, graphs, SavedModels and Keras files by tf2onnx.

Quantised inputs and outputs become real, as in SNPE's files. The inputs and outputs of a quantised
file may be codes (quantised values). In hexsim an application passes real numbers, and the runtime
quantises them by the encodings in the file.

Rules
1. An input that is only dequantised, by all nodes with the same step and zero point, becomes real,
   and a QuantizeLinear follows it. Nodes that only move codes may come before the dequantisation.
2. An output that a node quantises is dequantised after it, and keeps its name.

A graph is frozen, or belongs to a checkpoint (.meta) with its variables in files beside it.

tf2onnx turns the ranges of a quantised .tflite file, and FakeQuant nodes over activations, into
nodes that quantise, whose encodings `hexsim.onnx_io` reads; `hexsim.frameworks.fake_quant` adds
those over weights. Tensors keep their names, such as `image:0`.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx

from hexsim.errors import HexsimError, spelled
from hexsim.frameworks.archives import is_hdf5_alone
from hexsim.frameworks.biases import with_operations
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.fake_quant import WeightRanges
from hexsim.frameworks.foreign import Dims, Foreign
from hexsim.texts.text import new_name

FLOAT = onnx.TensorProto.FLOAT
_MOVES = frozenset({"Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that only move the elements of their first input."""


def with_real_ends(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of `model` with real inputs and outputs."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    input_nodes = [node for value in graph.input for node in _real_input(value, graph)]
    output_nodes = [node for value in graph.output for node in _real_output(value, graph)]
    nodes = [*input_nodes, *graph.node, *output_nodes]
    del graph.node[:]
    graph.node.extend(nodes)
    return changed


def _real_input(value: onnx.ValueInfoProto, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    readers = _ends(value.name, graph)
    encodings = {tuple(node.input[1:]) for node in readers}
    if len(encodings) != 1 or {node.op_type for node in readers} != {"DequantizeLinear"}:
        return []
    if len(readers[0].input) < 3 or _size(readers[0].input[1], graph) != 1:
        return []
    codes = _free(f"{value.name}_codes", graph)
    for node in graph.node:
        for position, name in enumerate(node.input):
            if name == value.name:
                node.input[position] = codes
    value.type.tensor_type.elem_type = FLOAT
    return [_node("QuantizeLinear", value.name, codes, readers[0])]


def _ends(name: str, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes that read a tensor, passing through nodes that only move elements."""
    names, readers = {name}, []
    for node in graph.node:  # in order
        if names.intersection(node.input):
            if node.op_type in _MOVES:
                names.update(node.output)
            else:
                readers.append(node)
    return readers


def _size(name: str, graph: onnx.GraphProto) -> int | None:
    """Return the number of elements of a constant, None if the tensor is computed."""
    return next((math.prod(item.dims) for item in graph.initializer if item.name == name), None)


def _real_output(value: onnx.ValueInfoProto, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    writer = next((node for node in graph.node if value.name in node.output), None)
    if writer is None or writer.op_type != "QuantizeLinear" or len(writer.input) < 3:
        return []
    codes = _free(f"{value.name}_codes", graph)
    for node in graph.node:
        for names in (node.input, node.output):
            for position, name in enumerate(names):
                if name == value.name:
                    names[position] = codes
    value.type.tensor_type.elem_type = FLOAT
    return [_node("DequantizeLinear", codes, value.name, writer)]


def _node(op_type: str, source: str, target: str, model_node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node with the step, zero point and attributes of `model_node`."""
    name = f"{target}_{op_type}"
    inputs = [source, *model_node.input[1:]]
    return onnx.NodeProto(
        op_type=op_type, name=name, input=inputs, output=[target], attribute=model_node.attribute
    )


def _free(name: str, graph: onnx.GraphProto) -> str:
    return new_name({tensor for node in graph.node for tensor in (*node.input, *node.output)}, name)


OPSET = 13
_DEFAULT_SIGNATURE = b"\x0a\x0fserving_default\x12"
"""The beginning of the entry with this key in the map of signatures."""
_TABLE_OF_FILE = b"InitializeTableFromTextFile"
"""The operator whose table tf2onnx puts into the network; it may name any file."""
_MODULES = ("tf2onnx", "tensorflow")
_ALL_MODULES = (*_MODULES, "keras", "h5py")
_COMMAND = ("-m", "tf2onnx.convert", "--opset", str(OPSET))
TFLITE = Exporter("tf2onnx", "tflite", _MODULES, _COMMAND)
TENSORFLOW = Exporter("tf2onnx", "tensorflow", _ALL_MODULES, _COMMAND)
_FLOORS = (("keras", "3.12"),)
"""In earlier versions a file could run code in safe mode (CVE-2025-9905 for HDF5, and others)."""
_KERAS_FILE = str(Path(__file__).parent / "_keras_file.py")
KERAS = Exporter("Keras with tf2onnx", "tensorflow", _ALL_MODULES, (_KERAS_FILE,), _FLOORS)


def read_tflite(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a .tflite file; the reader of ONNX applies `dims` and `output_names`."""
    TFLITE.require(path, "a TensorFlow Lite model")
    model = TFLITE.run(path, ["--tflite", str(path.absolute())], "--output")
    return Foreign(with_real_ends(model), input_dims=dims, output_names=output_names)


def read_saved_model(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read the folder of a SavedModel: the graph with the tag `serve` and the default signature.

    If there is no default signature, the first one is read.
    """
    TENSORFLOW.require(path, "a TensorFlow SavedModel")
    words = ["--saved-model", str(path.absolute())]
    description = (path / "saved_model.pb").read_bytes()
    if _TABLE_OF_FILE in description:
        raise HexsimError(
            f"'{path}' has a table of words that are in another file, which is not read; save the "
            "network without it"
        )
    if _DEFAULT_SIGNATURE in description:
        words += ["--signature_def", "serving_default"]
    ranges, _ = WeightRanges.taken_from("SavedModel", description)
    model = ranges.put_into(TENSORFLOW.run(path, words, "--output"))
    named = with_operations(model, "SavedModel", description)
    return Foreign(named, input_dims=dims, output_names=output_names)


def read_keras(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a Keras file, in its own format or HDF5; a file with Python code is refused."""
    ending = ".h5" if is_hdf5_alone(path) else ".keras"
    KERAS.require(path, "a Keras model")
    with TemporaryDirectory(prefix="hexsim-") as folder:
        source = Path(folder) / f"model{ending}"  # Keras chooses the format by the ending
        source.symlink_to(path.resolve())
        model = KERAS.run(path, [str(source), str(OPSET)], "")
    return Foreign(model, input_dims=dims, output_names=output_names)


def read_frozen(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a frozen graph, with the inputs of `dims` and the outputs `output_names`."""
    return _read_graph(path, "a TensorFlow graph", "--graphdef", dims, output_names)


def read_checkpoint(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a graph (.meta) with the variables in files beside it; else as `read_frozen`."""
    kind = "the graph of a TensorFlow checkpoint"
    if path.suffix != ".meta" or not path.with_suffix(".index").is_file():
        name = f"{path.stem}.meta, {path.stem}.index and {path.stem}.data-00000-of-00001"
        raise HexsimError(f"'{path}' is {kind} without its variables; it needs the files {name}")
    return _read_graph(path, kind, "--checkpoint", dims, output_names)


def _read_graph(
    path: Path, kind: str, option: str, dims: Dims, output_names: Sequence[str]
) -> Foreign:
    if not dims or not output_names:
        raise HexsimError(
            f"'{path}' is {kind}, which does not say where it begins and ends; give "
            f"its inputs with {spelled('input_dims', {'NAME': (1, 224, 224, 3)})}, and its outputs "
            f"with {spelled('output_names', 'NAME')}"
        )
    inputs = [f"{_port(name)}[{','.join(map(str, dims[name]))}]" for name in dims]
    outputs = [_port(name) for name in output_names]
    for name in (*dims, *output_names):
        if not set(name).isdisjoint(",[]"):
            raise HexsimError(f"'{name}' is not the name of a TensorFlow tensor")
    TENSORFLOW.require(path, kind)
    kind_of_message = "Graph" if option == "--graphdef" else "MetaGraph"
    data = path.read_bytes()
    ranges, converted = WeightRanges.taken_from(kind_of_message, data)
    with TemporaryDirectory(prefix="hexsim-") as folder:
        source = path.absolute()
        if ranges.grids:
            source = Path(folder) / "graph.pb"
            source.write_bytes(converted)
        words = ["--inputs", ",".join(inputs), "--outputs", ",".join(outputs)]
        model = TENSORFLOW.run(path, [option, str(source), *words], "--output")
    return Foreign(with_operations(ranges.put_into(model), kind_of_message, data))


def _port(name: str) -> str:
    """Return the name of a tensor; an operation alone stands for its first output."""
    return name if ":" in name else f"{name}:0"
