"""Runs a Network in float arithmetic, by onnxruntime on the CPU of the host.

float32 models the CPU runtime. half_storage models a GPU that stores float16 and computes in
float32: inputs, weights and the output of every layer are rounded to float16. float16 models a GPU
that also computes in float16, as far as onnxruntime allows: the result of every operator within a
layer is rounded as well, but the products inside one convolution, matrix product, pooling or
softmax are summed in float32. An opaque layer computes in float32; its outputs are not rounded. A
user-defined layer calls the user's function, between sessions; its inputs and outputs are rounded.

Errors of onnxruntime become one sentence: which node fails, why, and what to do. Their text remains
available as the cause of the exception.

One thread watches all calls of the process, and stops those that take too long: starting a thread
for each inference would cost more than the inference of a small network. It sleeps until the
earliest known deadline, so a later inference that finishes in time neither starts nor wakes one.
"""

import contextlib
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.graph.liveness import elements_at_once
from hexsim.layers import Opaque, UserDefined
from hexsim.onnx_io.runtime import load_onnxruntime
from hexsim.onnx_io.write.precision import Precision, as_float16, rounded
from hexsim.udl.calling import float_values

__all__ = ["FloatEngine", "Precision"]


_KINDS = (
    (r"Type Error|not allowed to be type|type inference", "does not take these element types"),
    (
        r"not a registered function|No Op registered|Unrecognized operator",
        "is unknown to it ({udl} would say what it does)",
    ),
    (r"NOT_IMPLEMENTED|Could not find an implementation", "has no implementation in it"),
    (r"ShapeInferenceError|Incompatible dimensions|mismatch", "does not fit its inputs"),
    (r"allocat|bad_alloc|Failed to allocate", "needs more memory than there is"),
    (r"ONNX Runtime only \*guarantees\* support|opset", "is of an opset that it does not know"),
    (r"status code returned while running", "fails on these inputs"),
)
"""Patterns of the text, and the reason to report; the first that matches is used."""
_OTHERWISE = "has inputs or attributes that it does not take"

_NODES = (
    r"node with name '([^']*)'",
    r"Name:'([^']*)'",
    r"in node \(([^)]*)\)",
    r"Node:? \(([^)]*)\)",
    r"Node:([^ ]+) ",
)
_OPERATORS = (
    r"operator \(([\w.]+)\)",
    r"Op \(([\w.]+)\)",
    r"implementation for ([\w.]+)\(",
    r"running (\w+) node",
    r"Fatal error: ([\w.:]+)\(",
    r"Op registered for ([\w.]+)",
    r"onnxruntime::([A-Z]\w+)(?:<\w+>)?::\1\(",
)

_MOST_CHARACTERS = 10_000
"""Most characters of a text in which patterns are looked for; names in it may have any length."""


def refused(network: Network, error: Exception) -> HexsimError:
    """Build the error that says why onnxruntime does not run `network`."""
    text = str(error)[:_MOST_CHARACTERS]
    name, operator = _first(_NODES, text), _first(_OPERATORS, text).replace(":", ".")
    layer = next((layer for layer in network.layers if layer.name == name), None)
    if layer is not None:
        operator = layer.op_type if isinstance(layer, Opaque) else layer.type
    elif name.startswith("hexsim/"):  # written for a layer; its last part is the operator
        operator = operator or name.rpartition("/")[2]
    why = next((meaning for pattern, meaning in _KINDS if re.search(pattern, text)), _OTHERWISE)
    why = why.format(udl=spelled("udl"))
    if layer is not None:
        culprit = f"node '{layer.name}' ({operator})"
    elif operator:
        culprit = f"operator {operator}"
    else:
        culprit, why = "the graph", "is not one that it can run"
    return HexsimError(
        f"onnxruntime cannot run network '{network.name}': {culprit} {why}; change the model, or "
        f"end the network before that ({spelled('output_names')})"
    )


def _first(patterns: tuple[str, ...], text: str) -> str:
    matches = (re.search(pattern, text) for pattern in patterns)
    return next((match[1] for match in matches if match), "")


class Watch:
    """A thread that calls the `stop` function of late calls, started when first needed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[object, tuple[float, Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None
        self._wakes = math.inf

    @contextlib.contextmanager
    def limit(self, seconds: float, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop` if the block takes longer, in another thread and never after the block."""
        key, end = object(), time.monotonic() + seconds
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._watch, name="hexsim-watch", daemon=True)
                thread.start()
                self._thread = thread
            self._open[key] = end, stop
            if end < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._open.pop(key, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for key, (end, stop) in list(self._open.items()):
                    if end <= now:
                        del self._open[key]
                        stop()
                self._wakes = min((end for end, _ in self._open.values()), default=math.inf)
                self._changed.wait(min(self._wakes - now, threading.TIMEOUT_MAX))


_watch = Watch()


def _begin_anew() -> None:
    global _watch
    _watch = Watch()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)  # a forked process has no other threads


def limited(seconds: float, stop: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
    """Watch the block: `stop` is called in another thread if it takes longer than `seconds`."""
    return _watch.limit(seconds, stop)


_WRONG_OPTIMIZERS = ("Pad_Fusion",)
"""Rewrites that change values. onnxruntime (1.20 to 1.23) folds a Pad of zeros into the pooling
behind it, whose own padding is minus infinity (maximum) or, in 1.20, not counted (average). Into a
convolution, where it is right, `fold_pad` folds it."""


_LARGE = 1 << 26
"""Elements of all tensors (256 MiB of float32) above which memory is freed after each run."""


class OrtSession:
    """A network prepared for onnxruntime; arguments and errors are those of `FloatEngine`."""

    def __init__(
        self, network: Network, outputs: Sequence[str], precision: Precision, threads: int
    ) -> None:
        from hexsim.onnx_io.write.writer import write

        onnxruntime = load_onnxruntime()

        self._network = network
        self._outputs = tuple(outputs)
        self._written = tuple(dict.fromkeys(n for n in self._outputs if n in network.producers))
        self._session = None
        self._fed: Mapping[str, npt.NDArray[Any]] = {}
        self._is_large = False
        if not self._written:
            return
        elements = sum(tensor.elements for tensor in network.tensors.values())
        self._is_large = elements > _LARGE
        graph = write(network, self._written, precision)
        self._fed = graph.fed
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised as exceptions
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.intra_op_num_threads = threads
        options.use_deterministic_compute = True
        # Threads that wait for the next operator would use a core without computing anything.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(a) for a in graph.weights.values()]
        options.add_external_initializers(list(graph.weights), values)
        try:
            self._session = onnxruntime.InferenceSession(
                graph.model.SerializeToString(),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=list(_WRONG_OPTIMIZERS),
            )
        except Exception as error:  # onnxruntime's exceptions share no base class
            raise refused(network, error) from error

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs for `inputs`, arrays by tensor name in stored order.

        Float tensors come as float32, others in their own type.
        """
        tensors = self._network.tensors
        feed = {n: np.asarray(inputs[n], tensors[n].dtype) for n in self._network.inputs}
        try:
            results = self._results(feed)
        except HexsimError:
            raise
        except Exception as error:  # onnxruntime's exceptions share no base class
            raise refused(self._network, error) from error
        for name, result in zip(self._written, results, strict=True):
            if not tensors[name].may_have(result.shape):
                raise HexsimError(
                    f"tensor '{name}' of network '{self._network.name}' is said to have the shape "
                    f"{list(tensors[name].shape)} and has {list(result.shape)}; convert the model "
                    "again"
                )
        values = {**feed, **dict(zip(self._written, results, strict=True))}
        return {name: _single(values[name]) for name in self._outputs}

    def _results(self, feed: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Run the session, and stop it at the time limit of the budget: a loop may be endless."""
        if self._session is None:
            return []
        options, seconds = load_onnxruntime().RunOptions(), budget.allowed(budget.SECONDS)
        if self._is_large:
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            options.terminate = True

        try:
            with limited(seconds, stop):
                return list(self._session.run(self._written, {**feed, **self._fed}, options))
        except Exception:
            if timed_out.is_set():
                subject = f"an inference of network '{self._network.name}' takes longer than that"
                raise HexsimError(budget.over(budget.SECONDS, subject, seconds)) from None
            raise


def _single(array: np.ndarray) -> FloatArray:
    return array.astype(np.float32, copy=False) if array.dtype.kind == "f" else array


class FloatEngine:
    """A network prepared to run on any number of inputs; equal inputs give equal bytes.

    `outputs` are the tensors that `run` returns, by default the network's outputs. `threads` is
    the number of threads inside one operator, 0 for one per core.
    Raises HexsimError if a weight holds NaN or infinity, or if onnxruntime refuses the network.
    """

    def __init__(
        self,
        network: Network,
        outputs: Sequence[str] | None = None,
        precision: Precision = "float32",
        threads: int = 0,
    ) -> None:
        self._network = network
        self._outputs = tuple(network.outputs if outputs is None else outputs)
        elements = elements_at_once(network, self._outputs)
        budget.require(budget.VALUES, elements, f"an inference of network '{network.name}'")
        self._parts: list[OrtSession | _UserValues] = []
        if not any(isinstance(layer, UserDefined) for layer in network.layers):
            self._parts.append(OrtSession(network, self._outputs, precision, threads))
            return
        needed = network.subnetwork(network.layers, network.inputs, self._outputs)
        for by_user, layers in groupby(needed.layers, lambda item: isinstance(item, UserDefined)):
            self._parts += _parts(needed, tuple(layers), precision, threads, by_user=by_user)

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs for `inputs`, arrays by tensor name in stored order.

        Float tensors come as float32, others in their own type.
        """
        if len(self._parts) == 1 and isinstance(self._parts[0], OrtSession):
            return self._parts[0].run(inputs)
        tensors = self._network.tensors
        values = {n: np.asarray(inputs[n], tensors[n].dtype) for n in self._network.inputs}
        for part in self._parts:
            values.update(part.run(values))
        return {name: values[name] for name in self._outputs}


class _UserValues:
    """A user-defined layer prepared to run; its constants come from `network`."""

    def __init__(self, layer: UserDefined, network: Network, precision: Precision) -> None:
        self._layer = layer
        self._precision = precision
        shapes = network.input_shapes(layer), network.layer_outputs(layer)
        self._node = layer.node(*shapes)
        self._constants = {
            name: rounded(network.constants[name].value(), precision)
            for name in layer.inputs
            if name in network.constants
        }

    def run(self, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return its outputs for `values` of tensors, arrays by name in stored order."""
        arguments = [
            self._constants[name] if name in self._constants else self._as_stored(values[name])
            for name in self._layer.inputs
        ]
        results = float_values(self._layer.known, self._node, self._layer.at_places(arguments))
        stored_results = map(self._as_stored, results)
        return dict(zip(self._layer.outputs, stored_results, strict=True))

    def _as_stored(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Round float32 values as the precision stores activations."""
        if self._precision == "float32" or array.dtype != np.float32:
            return array
        return as_float16(array)


def _parts(
    network: Network, layers: Sequence[Layer], precision: Precision, threads: int, *, by_user: bool
) -> list[OrtSession | _UserValues]:
    """Prepare a sequence of layers, which are either all user-defined or none of them."""
    if by_user:
        return [
            _UserValues(layer, network, precision)
            for layer in layers
            if isinstance(layer, UserDefined)
        ]
    inputs, outputs = network.boundary(layers)
    part = network.subnetwork(layers, inputs, outputs)
    return [OrtSession(part, outputs, precision, threads)]
