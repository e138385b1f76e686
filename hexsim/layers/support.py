"""Whether a runtime, or the HTA, takes a layer, and the sentence why not.

A layer says who may take its type (`Layer.support`), the table of a release which of these has it
(`hexsim.datasheets.operators`), and the layer again when they refuse it nevertheless
(`Layer.limits`); the rules here hold for layers of every type. What depends on encodings, and what
a release keeps from the HTA, is said elsewhere (`hexsim.planning.sections.limits`).
"""

from __future__ import annotations

from hexsim.datasheets import stacks
from hexsim.datasheets.operators import Column, Operators, Verdict, column
from hexsim.graph.ir import Layer, Network
from hexsim.graph.support import ACCELERATORS, HTA, INTEGER, Rule
from hexsim.runtimes import LayerTarget

_HTA_AXES = 4


def _not_float(layer: Layer, network: Network) -> bool:
    tensors = [network.tensors[n] for n in (*layer.inputs, *layer.outputs) if n in network.tensors]
    return any(tensor.dtype != "float32" for tensor in tensors)


def _more_than_five_axes(layer: Layer, network: Network) -> bool:
    return any(len(shape) > 5 for shape in network.layer_outputs(layer))


def _without_elements(layer: Layer, network: Network) -> bool:
    return any(
        0 in shape for shape in (*network.input_shapes(layer), *network.layer_outputs(layer))
    )


def _more_than_four_axes(layer: Layer, network: Network) -> bool:
    shapes = (*network.input_shapes(layer), *network.layer_outputs(layer))
    return any(len(shape) > _HTA_AXES for shape in shapes)


def _batch(layer: Layer, network: Network) -> bool:
    # the rows of a matrix are no batch: the engine takes them as pixels
    return any(len(s) > 2 and s[0] > 1 for s in network.layer_outputs(layer))


def _reads_opaque_input(layer: Layer, network: Network) -> bool:
    return any(network.input_format(name).type == "opaque" for name in layer.inputs)


RULES: tuple[Rule, ...] = (
    Rule(ACCELERATORS, _not_float, "the layer handles tensors that are not float32"),
    Rule(ACCELERATORS, _more_than_five_axes, "tensors have at most five axes"),
    Rule(ACCELERATORS, _without_elements, "one of its tensors has no elements"),
    Rule(HTA, _more_than_four_axes, "tensors on the HTA have at most four axes"),
    Rule(HTA, _batch, "the HTA takes batches of one"),
    Rule(INTEGER, _reads_opaque_input, "it reads an input of type opaque, which stays float"),
)


def refusal(
    layer: Layer, target: LayerTarget, network: Network, operators: Operators | None = None
) -> str | None:
    """Return why `target` refuses `layer`, in one sentence, or None if it takes it.

    `operators` is the release; None stands for the last SNPE 1.x.
    """
    if target not in layer.support.targets:
        return layer.support.otherwise
    of = column(target)
    if of is not None:
        release = operators or Operators.of("snpe-1")
        variant = layer.variant(network.input_shapes(layer))
        verdict = release.verdict(layer.type, variant, of)
        if verdict is not None and not verdict.taken:
            return _missing(release, layer.type, variant, of, verdict)
    for rule in (*RULES, *layer.limits):
        if target in rule.targets and rule.refuses(layer, network):
            return rule.sentence
    return None


def _missing(release: Operators, layer: str, variant: str, of: Column, verdict: Verdict) -> str:
    """The sentence on a layer that a release does not have, and who has it."""
    named = f"{layer} ({variant})" if variant else layer
    first = f" before {verdict.since}" if verdict.since else ""
    told = f"{release.name} has no {named} on the {of.upper()}{first} ({verdict.source})"
    others = stacks.that_have(layer, variant, of)
    if others:
        return f"{told}, --stack {' or '.join(others)} has"
    on_gpu = release.verdict(layer, variant, "gpu")
    if of != "gpu" and on_gpu is not None and on_gpu.taken:
        return f"{told}, --runtime gpu has"
    return f"{told}, and no other stack is known to"
