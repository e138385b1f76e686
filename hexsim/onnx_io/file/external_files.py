"""Finds the files beside an ONNX file that contain its weights."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def external_files(path: Path) -> tuple[Path, ...]:
    """Return the weight files that the ONNX file at `path` names; none if it is not ONNX.

    A file without the bytes `location`, the key of such a name, is not parsed.
    """
    try:
        if not path.is_file():
            return ()
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data.find(b"location") < 0:
                return ()
    except (OSError, ValueError):  # ValueError: an empty file
        return ()
    import onnx

    try:
        model = onnx.load(path, load_external_data=False)
    except Exception:  # of protobuf; the reader of the model reports the error
        return ()
    tensors = [*_in_graph(model.graph)]
    for function in model.functions:
        tensors += _in_nodes(function.node)
    names = {e.value for t in tensors for e in t.external_data if e.key == "location"}
    return tuple(path.parent / name for name in sorted(names))


def _in_graph(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _in_nodes(graph.node)


def _in_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for graph in (attribute.g, *attribute.graphs):
                yield from _in_graph(graph)
