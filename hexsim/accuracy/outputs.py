"""The SQNR of a network's outputs with any choice of layers in integers.

It is measured before a final softmax (hexsim.accuracy.scores), which hides noise.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from hexsim import budget
from hexsim.accuracy.classes import unpadded_each
from hexsim.accuracy.output_errors import OutputErrors
from hexsim.accuracy.scores import class_scores, compared_floats, scored
from hexsim.deployment import Deployment
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray, Layer
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Subnet
from hexsim.quantization.model import Model
from hexsim.results.accuracy import worst_db
from hexsim.runtimes import FIXED_POINT, MAIN_ENGINE, Engine, Runtime


class OutputJudge:
    """Compares runs of one network on `inputs`, which stay in memory, with float outputs.

    `network` is the network compared, without its final softmax; `takes` names its layers that run
    on the fixed-point runtime of `deployment`. Without `items` all batches of inputs are full.
    """

    def __init__(
        self,
        deployment: Deployment,
        inputs: Iterable[Mapping[str, FloatArray]],
        items: int | None = None,
    ) -> None:
        self._items = items
        self._names = compared_floats(deployment.network)
        self.deployment = deployment
        self.network = class_scores(deployment.network)
        self.inputs = list(inputs)
        tensors = (self.network.tensors[n] for n in (*self.network.inputs, *self.network.outputs))
        elements = len(self.inputs) * sum(tensor.elements for tensor in tensors)
        action = (
            f"keeping {len(self.inputs)} inputs of network '{self.network.name}' with its outputs"
        )
        budget.require(budget.VALUES, elements, action)
        self.takes = layers_on(deployment) & {layer.name for layer in self.network.layers}
        engine = FloatEngine(self.network)
        self._references = [engine.run(feed) for feed in self.inputs]

    def sqnr_db(self, model: Model, chosen: AbstractSet[str]) -> float:
        """Return the SQNR of the worst output with only the layers in `chosen` in integers.

        The runtime's other layers compute with the float constants of the reference. `model` is
        the network compared, or one with the same layers and other parameters.
        """
        mixed = _with_floats(scored(model), self.takes - chosen)
        runs = with_chosen(self.deployment, mixed, chosen).executor().run_each(self.inputs)
        errors = OutputErrors()
        batch = batch_size(self.deployment.network)
        sides = (unpadded_each(side, batch, self._items) for side in (runs, self._references))
        for run, reference in zip(*sides, strict=True):
            errors.add({name: reference[name] for name in self._names}, run)
        return worst_db(errors.each)


def _with_floats(model: Model, spared: AbstractSet[str]) -> Model:
    """Return the model with the reference's float constants in the layers named in `spared`.

    A constant that another layer reads too stays as it is stored.
    """
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for layer in model.network.layers:
        names[layer.name in spared].update(layer.inputs, layer.parameters)
    floats = (names[True] - names[False]) & model.network.constants.keys()
    return replace(
        model,
        activations={
            n: activation for n, activation in model.activations.items() if n not in floats
        },
        parameters={n: parameter for n, parameter in model.parameters.items() if n not in floats},
        stored_constants={
            n: constant for n, constant in model.stored_constants.items() if n not in floats
        },
    )


def layers_on(deployment: Deployment) -> frozenset[str]:
    """Return the names of the layers that run on a fixed-point runtime."""
    on_runtime = (subnet for subnet in deployment.subnets if subnet.runtime in FIXED_POINT)
    return frozenset(layer.name for subnet in on_runtime for layer in subnet.layers)


def with_chosen(deployment: Deployment, model: Model, chosen: AbstractSet[str]) -> Deployment:
    """Deploy `model` with only the layers named in `chosen` on the runtime.

    `model` has layers of the deployed one; layers on its tensor engine stay there, and the others
    are on the runtime's main engine.
    """
    runtime, on_hta = deployment.runtime, deployment.on_hta

    def place(layer: Layer) -> tuple[Runtime, Engine]:
        if layer.name not in chosen:
            return "cpu", "cpu"
        return runtime, "hta" if layer.name in on_hta else MAIN_ENGINE[runtime]

    cut = [
        Subnet(where, engine, tuple(run), "others" if where == "cpu" else "chosen")
        for (where, engine), run in groupby(model.network.layers, key=place)
    ]
    return deployment.with_cut(cut, model)
