"""The layers of a prototxt in the phase of inference, in order, and its inputs.

Rules
1. A layer is there if its `include` and `exclude` rules allow it in phase TEST, level 0, no stage.
2. Layers of the second format (`layers`, called V1) are taken by the names that they have today.
3. A blob that a layer overwrites is another tensor from then on. The last one keeps the name.
4. Layers that only feed `Silence`, or write nothing that is asked for, are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hexsim import budget
from hexsim.errors import HexsimError, InvalidDataError, unknown
from hexsim.frameworks.caffe.net_messages import V1_TYPES
from hexsim.frameworks.caffe.parameters import Parameters
from hexsim.frameworks.caffe.prototxt import Unknown, parse_prototxt
from hexsim.texts.text import read_text

Shape = tuple[int, ...]


@dataclass(frozen=True)
class CaffeLayer:
    """A layer: `inputs` and `outputs` are names of tensors, `fields` all that is said of it."""

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    fields: Parameters

    def error(self, what: str) -> HexsimError:
        """The error on something wrong with this layer."""
        return self.fields.error(what)


@dataclass(frozen=True)
class Description:
    """Inputs with their shapes, layers in order, and the outputs of a net."""

    inputs: Mapping[str, Shape]
    layers: tuple[CaffeLayer, ...]
    outputs: tuple[str, ...]


def read_description(
    path: Path, input_dims: Mapping[str, Sequence[int]], ends: Sequence[str]
) -> Description:
    """Read the net in the prototxt `path`, up to the tensors `ends`, if there are any.

    `input_dims` replaces shapes of inputs. Raises HexsimError for what is wrong.
    """
    label = f"'{path}'"
    try:
        text = read_text(path, "prototxt", "give the description of a network, or a model file")
        message, unknown = parse_prototxt(text, label)
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    net = Parameters(message, label, unknown.get(0))
    net.value("name", "")
    shapes = _declared(net)
    layers = []
    for layer in _layers(net, unknown):
        if layer.type == "Input":
            shapes |= _input_layer(layer)
        else:
            layers.append(layer)
    net.require_known()
    if not layers:
        raise HexsimError(f"{label} describes no layers; there is nothing to run")
    return _asked(_renamed(layers, _given(shapes, input_dims, label), label), ends, label)


def _layers(net: Parameters, unknown: Unknown) -> list[CaffeLayer]:
    now, v1 = (net.messages(field) for field in ("layer", "layers"))
    if now and v1:
        raise net.error("it mixes 'layer' and 'layers', the formats of now and then")
    budget.require(budget.NODES, len(now) + len(v1), net.where)
    found = []
    for number, fields in enumerate(now or v1, start=1):
        fields.unknown = unknown.get(number)
        if fields.has("layer"):
            raise net.error(
                "it is of Caffe's first format (layers { layer { ... } }); let Caffe's "
                "upgrade_net_proto_text rewrite it"
            )
        name, kind = fields.value("name", ""), fields.value("type", "")
        kind = V1_TYPES.get(kind, "") if v1 else kind
        fields.where = (
            f"layer '{name}' ({kind}) of {net.where}"
            if name
            else (f"layer {number} of {net.where}")
        )
        if not kind:
            raise fields.error("it has no type")
        bottoms, tops = fields.values("bottom"), fields.values("top")
        layer = CaffeLayer(name or f"layer{number}", kind, bottoms, tops, fields)
        if _is_there(fields):
            found.append(layer)
    return found


def _is_there(fields: Parameters) -> bool:
    include, exclude = fields.messages("include"), fields.messages("exclude")
    if include and exclude:
        raise fields.error("it has both 'include' and 'exclude'; Caffe takes one of them")
    if include:
        return any([_meets(rule) for rule in include])
    return not any([_meets(rule) for rule in exclude])


def _meets(rule: Parameters) -> bool:
    """True if inference, at level 0 and in no stage, is what a rule speaks of."""
    phase = rule.value("phase", "TEST")
    levels = rule.value("min_level", 0) <= 0 <= rule.value("max_level", 0)
    stages = rule.values("stage")
    rule.values("not_stage")
    rule.require_all_read()
    return phase == "TEST" and levels and not stages


def _declared(net: Parameters) -> dict[str, Shape]:
    """The inputs of a net that are no layers; their shapes may be missing, and are () then."""
    names = net.values("input")
    shapes = [shape.values("dim") for shape in net.messages("input_shape")]
    sizes = net.values("input_dim")
    if sizes and not shapes:
        shapes = [sizes[at : at + 4] for at in range(0, len(sizes), 4)]
    if (shapes and len(shapes) != len(names)) or len(sizes) % 4:
        raise net.error(f"it has {len(names)} inputs, and shapes for {len(shapes)}")
    return dict(zip(names, shapes or [()] * len(names), strict=True))


def _input_layer(layer: CaffeLayer) -> dict[str, Shape]:
    shapes = [s.values("dim") for s in layer.fields.message("input_param").messages("shape")]
    if len(shapes) == 1:
        shapes *= len(layer.outputs)
    if shapes and len(shapes) != len(layer.outputs):
        raise layer.error(f"it has {len(layer.outputs)} tops, and shapes for {len(shapes)}")
    return dict(zip(layer.outputs, shapes or [()] * len(layer.outputs), strict=True))


def _given(
    shapes: Mapping[str, Shape], dims: Mapping[str, Sequence[int]], label: str
) -> dict[str, Shape]:
    """The shapes of all inputs: what the user gives comes before what the file says."""
    for name in dims:
        if name not in shapes:
            raise unknown(f"input of {label}", name, shapes)
    found = {name: tuple(dims.get(name, shape)) for name, shape in shapes.items()}
    for name, shape in found.items():
        if not shape:
            raise HexsimError(
                f"input '{name}' of {label} has no shape; give one with --input-dim {name} "
                "1,3,224,224"
            )
        if shapes[name] and len(shape) != len(shapes[name]):
            raise HexsimError(
                f"input shape {','.join(map(str, shape))} for '{name}' has {len(shape)} "
                f"dimensions, {label} has {len(shapes[name])} there"
            )
        if min(shape) < 1:
            raise HexsimError(
                f"input '{name}' of {label} has the shape {list(shape)}; sizes must be at least 1"
            )
        budget.require_shape(shape, f"input '{name}' of {label}")
    return found


def _renamed(layers: Sequence[CaffeLayer], inputs: Mapping[str, Shape], label: str) -> Description:
    """Give each version of a blob a name of its own, and find the outputs of the net."""
    versions = Counter(top for layer in layers for top in dict.fromkeys(layer.outputs))
    versions.update(list(inputs))
    taken, current = set(versions), {name: name for name in inputs}
    written = Counter(dict.fromkeys(inputs, 1))
    found, read, made = [], set[str](), list[str]()
    for layer in layers:
        for bottom in layer.inputs:
            if bottom not in current:
                raise layer.error(f"it reads blob '{bottom}', which no layer before it writes")
        tensors = tuple(current[bottom] for bottom in layer.inputs)
        read.update(tensors)
        tops = []
        for top in layer.outputs:
            written[top] += 1
            last = written[top] == versions[top] and top not in inputs
            tops.append(top if last else _free(f"{top}.{layer.name}", taken))
        if len(set(layer.outputs)) < len(tops):
            raise layer.error("it writes one blob twice")
        current.update(zip(layer.outputs, tops, strict=True))
        made += tops
        found.append(replace(layer, inputs=tensors, outputs=tuple(tops)))
    outputs = tuple(tensor for tensor in made if tensor not in read)
    if not outputs:
        raise HexsimError(f"{label} has no output; a layer must write what none reads")
    return Description(inputs, tuple(found), outputs)


def _free(name: str, taken: set[str]) -> str:
    candidate, count = name, 1
    while candidate in taken:
        candidate, count = f"{name}_{count}", count + 1
    taken.add(candidate)
    return candidate


def _asked(net: Description, ends: Sequence[str], label: str) -> Description:
    """Leave out what no output needs."""
    written = {tensor for layer in net.layers for tensor in layer.outputs}
    for name in ends:
        if name not in written:
            raise unknown(f"blob of {label}", name, written)
    outputs = tuple(dict.fromkeys(ends)) or net.outputs
    needed, kept = set(outputs), list[CaffeLayer]()
    for layer in reversed(net.layers):
        if needed.intersection(layer.outputs):
            needed.update(layer.inputs)
            kept.append(layer)
    inputs = {name: shape for name, shape in net.inputs.items() if name in needed}
    return Description(inputs, tuple(reversed(kept)), outputs)
