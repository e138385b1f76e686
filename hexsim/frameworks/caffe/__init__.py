"""Networks of Caffe: a prototxt that describes layers, and a caffemodel with their weights.

Tensors that no layer reads are the outputs of the model. Unless their file is given, the weights
are in the file with the name of the prototxt and the ending .caffemodel.

Modules
    net_messages schema of a prototxt: its messages and the fields that are read
    prototxt     parses a prototxt into a message and reports unknown fields
    parameters   reads the fields of a message by name and type
    description  lists the layers that are used in inference, in order
    blobs        reads the weights of a caffemodel, by layer
    graph        builds the ONNX graph with the shape of every tensor
    layers       translates each layer type to ONNX, one file per family

Left out: training, layers of the first format (`layers { layer { ... } }`), and Python layers.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim.errors import nearest, spelled
from hexsim.frameworks.caffe.blobs import read_blobs
from hexsim.frameworks.caffe.description import CaffeLayer, read_description
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers import COUNTS, TRANSLATORS
from hexsim.frameworks.foreign import Foreign

__all__ = ["read_caffe"]


_DATA = "Data", "DummyData", "HDF5Data", "ImageData", "MemoryData", "WindowData", "AnnotatedData"


def read_caffe(
    path: Path,
    weights: Path | None = None,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    output_names: Sequence[str] = (),
) -> Foreign:
    """Read the net that the prototxt `path` describes, with the caffemodel `weights`.

    `input_dims` replaces shapes of inputs (N, C, H, W), and the net ends at `output_names` unless
    it is empty. Raises HexsimError that names the layer and the reason.
    """
    net = read_description(path, input_dims or {}, output_names)
    if weights is None and beside(path).is_file():
        weights = beside(path)
    graph = CaffeGraph(net, None if weights is None else read_blobs(weights), str(path))
    for layer in net.layers:
        _translate(layer, graph)
    return graph.finish(path.stem)


def beside(path: Path) -> Path:
    """Return the default path of the weights of a prototxt."""
    return path.with_suffix(".caffemodel")


def _translate(layer: CaffeLayer, graph: CaffeGraph) -> None:
    if layer.type in TRANSLATORS:
        _require_counts(layer)
        TRANSLATORS[layer.type](layer, graph)
        layer.fields.require_all_read()
        return
    if layer.type in _DATA:
        raise layer.error(
            "it reads training data; give the prototxt for deployment, whose inputs have shapes"
        )
    if layer.type.endswith("Loss") or layer.type == "Accuracy":
        raise layer.error("it is a layer for training; give the prototxt for deployment")
    raise layer.error(
        f"layers of this type are not supported (end the network before it by "
        f"{spelled('output_names')}, or give "
        f"it as ONNX); {nearest(layer.type, TRANSLATORS)}"
    )


def _require_counts(layer: CaffeLayer) -> None:
    """Raise HexsimError unless a layer has as many bottoms and tops as its type."""
    sides = (("bottom", layer.inputs), ("top", layer.outputs))
    for (side, names), count in zip(sides, COUNTS.get(layer.type, (1, 1)), strict=True):
        if not names or (count is not None and len(names) != count):
            raise layer.error(f"it has {len(names)} {side}s, and takes {count or 'one or more'}")
