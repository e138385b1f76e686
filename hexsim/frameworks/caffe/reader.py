"""A prototxt and its caffemodel become an ONNX model in memory.

Outputs that no layer reads are those of the model. Weights are found beside the prototxt, under
its name, if nobody says where they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim.errors import nearest
from hexsim.frameworks.caffe.blobs import read_blobs
from hexsim.frameworks.caffe.description import CaffeLayer, read_description
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers import TRANSLATORS
from hexsim.frameworks.foreign import Foreign

_DATA = "Data", "DummyData", "HDF5Data", "ImageData", "MemoryData", "WindowData", "AnnotatedData"


def read_caffe(
    path: Path,
    weights: Path | None = None,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    output_names: Sequence[str] = (),
) -> Foreign:
    """Read the net that the prototxt `path` describes, with the caffemodel `weights`.

    `input_dims` replaces shapes of inputs (N, C, H, W), and the net ends at `output_names`, if
    there are any. Raises HexsimError naming the layer and what is wrong with it.
    """
    net = read_description(path, input_dims or {}, output_names)
    if weights is None and beside(path).is_file():
        weights = beside(path)
    graph = CaffeGraph(net, None if weights is None else read_blobs(weights), str(path))
    for layer in net.layers:
        _translate(layer, graph)
    return graph.finish(path.stem)


def beside(path: Path) -> Path:
    """Where the weights of a prototxt are unless somebody says something else."""
    return path.with_suffix(".caffemodel")


def _translate(layer: CaffeLayer, graph: CaffeGraph) -> None:
    if layer.type in TRANSLATORS:
        TRANSLATORS[layer.type](layer, graph)
        layer.fields.require_all_read()
        return
    if layer.type in _DATA:
        raise layer.error(
            "it reads training data; give the prototxt for deployment, whose inputs have shapes"
        )
    if layer.type.endswith("Loss") or layer.type == "Accuracy":
        raise layer.error("it is of training; give the prototxt for deployment")
    raise layer.error(
        "layers of this type are not taken (end the network before it by --out-name, or give it as "
        f"ONNX); {nearest(layer.type, TRANSLATORS)}"
    )
