"""Calls code of onnx that is written in C++, which crashes at some nodes that no exporter writes.

For example, its shape inference reads beyond an array if LayerNormalization has axis 2**63 - 1, or
follows a null pointer if an operator of `ai.onnx.ml` reads what an unknown operator computes. So
such nodes are given to another process, whose end is an error as any other. To start it takes 0.3
seconds (measured, 2 cores of a server), so nodes that are `plain` are not given to it.

Which nodes crash was found by calling onnx 1.23 with about 400 000 random nodes and models. Not one
of those that are plain did so.
"""

import atexit
import contextlib
import os
import pickle
import subprocess
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any, ParamSpec, TypeVar, cast

import onnx

from hexsim import isolation
from hexsim.errors import HexsimError
from hexsim.graph.domains import MOST_AXES
from hexsim.onnx_io.file.node import subgraphs
from hexsim.onnx_io.file.stored_tensors import require_data

P = ParamSpec("P")
R = TypeVar("R")

_LARGEST = 2**31 - 1
"""Largest size of an axis, number of heads and the like that a file has (assumed)."""
_ANY = frozenset({"end", "ends", "ignore_index", "k", "seed", "start", "starts"})
"""Attributes that may have any integer; so do those whose name has one of these words:"""
_ANY_WORDS = ("int64", "value_int")
_SIGNED_WORDS = ("ax", "pad", "shape", "window")
"""Words in names of attributes that may be negative."""
_TYPED_DOMAINS = ("ai.onnx.ml", "ai.onnx.preview.training")
"""Domains of onnx whose operators expect that the types of their inputs are known."""


def crash_proof(function: Callable[P, R], *, plain: bool) -> Callable[P, R]:
    """Return `function` if its arguments are `plain`, else the same in another process.

    The result raises RuntimeError if that process crashes, or `function` fails in it.
    """
    return function if plain else partial(_call, function)


def is_plain(node: onnx.NodeProto) -> bool:
    """Return whether a node, whose inputs have known types, has attributes that onnx expects."""
    return _has_plain_attributes(node) and all(map(_is_plain_graph, subgraphs(node)))


def is_plain_model(model: onnx.ModelProto) -> bool:
    """Return whether all nodes and arrays of a model are such as onnx expects."""
    functions = all(_are_plain(function.node) for function in model.functions)
    return functions and _is_plain_graph(model.graph)


def _is_plain_graph(graph: onnx.GraphProto) -> bool:
    return all(map(_is_plain_tensor, graph.initializer)) and _are_plain(graph.node)


def _are_plain(nodes: Iterable[onnx.NodeProto]) -> bool:
    """Return whether nodes are plain although the types of their inputs may not be known."""
    return all(node.domain not in _TYPED_DOMAINS and is_plain(node) for node in nodes)


def _has_plain_attributes(node: onnx.NodeProto) -> bool:
    for attribute in node.attribute:
        name, numbers = attribute.name, (attribute.i, *attribute.ints)
        if name not in _ANY and not any(word in name for word in _ANY_WORDS):
            is_signed = any(word in name for word in _SIGNED_WORDS)
            if min(numbers) < (-MOST_AXES if is_signed else 0) or max(numbers) > _LARGEST:
                return False
        tensors = [*attribute.tensors, *([attribute.t] if attribute.HasField("t") else [])]
        if not all(map(_is_plain_tensor, tensors)):
            return False
        if attribute.HasField("sparse_tensor") or attribute.sparse_tensors:
            return False
    return True


def _is_plain_tensor(tensor: onnx.TensorProto) -> bool:
    if tensor.data_type == onnx.TensorProto.STRING:
        return not tensor.HasField("raw_data")
    try:
        require_data(tensor, tensor.name)
    except HexsimError:
        return False
    return True


class _Server:
    """A process that calls functions for this one; if it has ended, another one is started."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def answer(self, request: bytes) -> tuple[Any, str]:
        """Return the result of a pickled function and its arguments, and an error or nothing."""
        with self._lock:
            process = self._started()
            requests, answers = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
            try:
                requests.write(request)
                requests.flush()
                result, error = pickle.load(answers)
            except (EOFError, OSError, pickle.UnpicklingError):
                self.stop()
                return None, "it ended"
            return result, error

    def stop(self) -> None:
        """End the process, if there is one of this process."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():  # that of the one that forked
            self._process = subprocess.Popen(
                isolation.python(_PROGRAM),
                cwd="/",
                env=isolation.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._owner = os.getpid()
        return self._process


_PROGRAM = str(Path(__file__).with_name("_crash_server.py"))
_server = _Server()
atexit.register(_server.stop)


def _call(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    result, error = _server.answer(pickle.dumps((function, arguments, named)))
    if error:
        raise RuntimeError(f"{function.__name__} in another process: {error}")
    return result  # type: ignore[no-any-return]
