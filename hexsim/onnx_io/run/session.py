"""A session of onnxruntime, which runs a network or a part of one."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.run.run_failures import refused
from hexsim.onnx_io.run.runtime import load_onnxruntime
from hexsim.onnx_io.run.time_limit import limited
from hexsim.onnx_io.write.precision import Precision

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
