"""Float arithmetic of the host: a Network run by onnxruntime on the CPU.

float32 is the CPU runtime. half_storage stands for a GPU that stores halves and computes in
single: inputs, weights and every layer's output are rounded to half. float16 stands for a GPU
that computes in half as well, as far as onnxruntime allows: its CPU kernels have no half
arithmetic, so besides half_storage the result of every operator within a layer (a sum before its
bias, each partial sum of several operands, scale before shift) is rounded to half, but the
products inside one convolution, matrix product, pooling or softmax are still summed in single.
An opaque layer computes in single; its outputs are not rounded.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.precision import Precision
from hexsim.onnx_io.run_failures import refused
from hexsim.onnx_io.runtime import load_onnxruntime
from hexsim.onnx_io.time_limit import limited

__all__ = ["FloatEngine", "Precision"]

_WRONG_OPTIMIZERS = ("Pad_Fusion",)
"""Rewrites that change values. onnxruntime (1.20 to 1.23) folds a Pad of zeros into the pooling
behind it, whose own padding is minus infinity (maximum) or, in 1.20, not counted (average). Into a
convolution, where it is right, `fold_pad` folds it."""


class FloatEngine:
    """A network made ready to run on any number of inputs; equal inputs give equal bytes.

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
        from hexsim.onnx_io.writer import write

        onnxruntime = load_onnxruntime()

        self._network = network
        self._outputs = tuple(network.outputs if outputs is None else outputs)
        self._written = tuple(dict.fromkeys(n for n in self._outputs if n in network.producers))
        elements = sum(tensor.elements for tensor in network.tensors.values())
        budget.require(budget.VALUES, elements, f"an inference of network '{network.name}'")
        self._session = None
        if not self._written:
            return
        graph = write(network, self._written, precision)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what goes wrong is raised
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
        """Run the session; it is stopped at the end of the budget, since loops may have no end."""
        if self._session is None:
            return []
        options, seconds = load_onnxruntime().RunOptions(), budget.allowed(budget.SECONDS)
        late = threading.Event()

        def stop() -> None:
            late.set()
            options.terminate = True

        try:
            with limited(seconds, stop):
                return list(self._session.run(self._written, feed, options))
        except Exception:
            if late.is_set():
                what = f"an inference of network '{self._network.name}' takes longer than that"
                raise HexsimError(budget.over(budget.SECONDS, what, seconds)) from None
            raise


def _single(array: np.ndarray) -> FloatArray:
    return array.astype(np.float32, copy=False) if array.dtype.kind == "f" else array
