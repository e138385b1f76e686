"""Whether a runtime, or the HTA, supports a layer, and the sentence why not.

`Layer.support` has the targets that may support a type, `hexsim.datasheets.operators` the releases
that do, and `Layer.limits` the rules by which they refuse some layers. The rules here apply to
layers of every type. Refusals by encodings, and layers that a release withholds from the HTA, are
in `hexsim.planning.sections`.
"""

from hexsim.datasheets.operators import Column, Operators, Verdict, column
from hexsim.graph.ir import Layer, Network
from hexsim.graph.support import ACCELERATORS, HTA, HTP, INTEGER, Limit
from hexsim.layers.onnx_nodes import Opaque
from hexsim.runtimes import LayerTarget

_HTA_AXES = 4


def _not_float(layer: Layer, network: Network) -> bool:
    tensors = [
        network.tensors[name] for name in (*layer.inputs, *layer.outputs) if name in network.tensors
    ]
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
    # the rows of a matrix are no batch: the engine treats them as pixels
    return any(len(s) > 2 and s[0] > 1 for s in network.layer_outputs(layer))


def _reads_opaque_input(layer: Layer, network: Network) -> bool:
    return any(network.input_format(name).type == "opaque" for name in layer.inputs)


RULES: tuple[Limit, ...] = (
    Limit(ACCELERATORS, _not_float, "the layer handles tensors that are not float32"),
    Limit(ACCELERATORS, _more_than_five_axes, "tensors have at most five axes"),
    Limit(ACCELERATORS, _without_elements, "one of its tensors has no elements"),
    Limit(HTA, _more_than_four_axes, "tensors on the HTA have at most four axes"),
    Limit(HTA, _batch, "the HTA takes batches of one"),
    Limit(INTEGER, _reads_opaque_input, "it reads an input of type opaque, which stays float"),
)


def refusal(
    layer: Layer, target: LayerTarget, network: Network, operators: Operators | None = None
) -> str | None:
    """Return why `target` refuses `layer`, in one sentence, or None if it supports it.

    `operators` is the release; None stands for the last SNPE 1.x.
    """
    if (lacking := lacking_type(layer, target, network, operators)) is not None:
        return lacking
    for rule in (*RULES, *layer.limits):
        if target in rule.targets and rule.refuses(layer, network):
            return rule.sentence
    return None


def lacking_type(
    layer: Layer, target: LayerTarget, network: Network, operators: Operators | None = None
) -> str | None:
    """Return that `target` has no layers of this type and variant, or None if it has."""
    if target not in layer.support.targets:
        return layer.support.otherwise
    table_column = column(target)
    if table_column is not None:
        release = operators or Operators.of("snpe-1")
        variant = layer.variant(network.input_shapes(layer))
        verdict = release.verdict(layer.type, variant, table_column)
        if verdict is not None and not verdict.taken:
            return _missing(release, layer.type, variant, table_column, verdict)
    return None


def runs_in_graph(layer: Layer, target: LayerTarget, network: Network, release: Operators) -> bool:
    """Tell whether a tensor processor runs a layer that its runtimes compute no values of.

    Those are ONNX operators that the release's table has for it, and layers of indices and masks,
    which are refused for their type of element alone.
    """
    if target not in HTP:
        return False
    if isinstance(layer, Opaque):
        return not layer.sized_by_values and release.runs_in_graph(layer.op_type, layer.form)
    limits = () if layer.counts else layer.limits  # positions are integers there, not codes
    others = (rule for rule in (*RULES, *limits) if rule.refuses is not _not_float)
    return (
        target in layer.support.targets
        and (layer.counts or _not_float(layer, network))
        and not any(target in rule.targets and rule.refuses(layer, network) for rule in others)
    )


def _missing(
    release: Operators, layer: str, variant: str, runtime: Column, verdict: Verdict
) -> str:
    """Return the sentence on a layer that a release lacks, and which other stacks have it."""
    name = f"{layer} ({variant})" if variant else layer
    version = f" before {verdict.since}" if verdict.since else ""
    sentence = f"{release.name} has no {name} on the {runtime.upper()}{version} ({verdict.source})"
    from hexsim.datasheets import stacks  # all schemas; most layers need no such sentence

    other_stacks = stacks.that_have(layer, variant, runtime)
    if other_stacks:
        return f"{sentence}; stack {' or '.join(other_stacks)} has it"
    on_gpu = release.verdict(layer, variant, "gpu")
    if runtime != "gpu" and on_gpu is not None and on_gpu.taken:
        return f"{sentence}, runtime gpu has"
    return f"{sentence}, and no other stack is known to"
