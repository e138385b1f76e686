"""Lists the inputs of a prototxt and its layers for inference, in order.

Rules
1. A layer is used if its `include` and `exclude` rules allow phase TEST, level 0 and no stage.
2. Layer types of the second format (`layers`, called V1) are replaced by their current names.
3. A blob that a layer overwrites becomes a new tensor. The last version keeps the name.
4. Layers that only feed `Silence`, or on which no requested output depends, are removed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim import budget
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.frameworks.caffe.net_messages import V1_TYPES
from hexsim.frameworks.caffe.parameters import Parameters
from hexsim.frameworks.caffe.prototxt import Unknown, parse_prototxt
from hexsim.records import dataclass, replace
from hexsim.texts.text import new_name, read_text

Shape = tuple[int, ...]


@dataclass(frozen=True)
class CaffeLayer:
    """A layer: `inputs` and `outputs` are names of tensors, `fields` are its parameters."""

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    fields: Parameters

    def error(self, reason: str) -> HexsimError:
        """Build the error that names this layer."""
        return self.fields.error(reason)


@dataclass(frozen=True)
class Description:
    """The inputs of a net with their shapes, its layers in order, and its outputs."""

    inputs: Mapping[str, Shape]
    layers: tuple[CaffeLayer, ...]
    outputs: tuple[str, ...]


def read_description(
    path: Path, input_dims: Mapping[str, Sequence[int]], output_names: Sequence[str]
) -> Description:
    """Read the net in the prototxt `path`, up to the tensors `output_names` unless it is empty.

    `input_dims` replaces shapes of inputs. Raises HexsimError if the net is not valid.
    """
    label = f"'{path}'"
    text = read_text(path, "prototxt", "give the description of a network, or a model file")
    message, unknown = parse_prototxt(text, label)
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
    return _asked(_renamed(layers, _given(shapes, input_dims, label), label), output_names, label)


def _layers(net: Parameters, unknown: Unknown) -> list[CaffeLayer]:
    current_layers, v1_layers = (net.messages(field) for field in ("layer", "layers"))
    if current_layers and v1_layers:
        raise net.error("it mixes 'layer' and 'layers', the current and the old format")
    budget.require(budget.NODES, len(current_layers) + len(v1_layers), net.where)
    layers = []
    for number, fields in enumerate(current_layers or v1_layers, start=1):
        fields.unknown = unknown.get(number)
        if fields.has("layer"):
            raise net.error(
                "it is of Caffe's first format (layers { layer { ... } }); let Caffe's "
                "upgrade_net_proto_text rewrite it"
            )
        name, kind = fields.value("name", ""), fields.value("type", "")
        kind = V1_TYPES.get(kind, "") if v1_layers else kind
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
            layers.append(layer)
    return layers


def _is_there(fields: Parameters) -> bool:
    include, exclude = fields.messages("include"), fields.messages("exclude")
    if include and exclude:
        raise fields.error("it has both 'include' and 'exclude'; Caffe accepts one of them")
    if include:
        return any([_meets(rule) for rule in include])
    return not any([_meets(rule) for rule in exclude])


def _meets(rule: Parameters) -> bool:
    """True if a rule applies to inference at level 0 and in no stage."""
    phase = rule.value("phase", "TEST")
    levels = rule.value("min_level", 0) <= 0 <= rule.value("max_level", 0)
    stages = rule.values("stage")
    rule.values("not_stage")
    rule.require_all_read()
    return phase == "TEST" and levels and not stages


def _declared(net: Parameters) -> dict[str, Shape]:
    """Return the inputs that are not declared as layers; a missing shape is ()."""
    names = net.values("input")
    shapes = [shape.values("dim") for shape in net.messages("input_shape")]
    sizes = net.values("input_dim")
    if sizes and not shapes:
        shapes = [sizes[start : start + 4] for start in range(0, len(sizes), 4)]
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
    """Return the shapes of all inputs: a shape from the user replaces that of the file."""
    for name in dims:
        if name not in shapes:
            raise unknown(f"input of {label}", name, shapes)
    input_shapes = {name: tuple(dims.get(name, shape)) for name, shape in shapes.items()}
    for name, shape in input_shapes.items():
        if not shape:
            raise HexsimError(
                f"input '{name}' of {label} has no shape; give one with "
                f"{spelled('input_dims', {name: (1, 3, 224, 224)})}"
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
    return input_shapes


def _renamed(layers: Sequence[CaffeLayer], inputs: Mapping[str, Shape], label: str) -> Description:
    """Give each version of a blob its own name, and determine the outputs of the net."""
    versions = Counter(top for layer in layers for top in dict.fromkeys(layer.outputs))
    versions.update(list(inputs))
    names, current = set(versions), {name: name for name in inputs}
    writes = Counter(dict.fromkeys(inputs, 1))
    layers_out, read_tensors, written = [], set[str](), list[str]()
    for layer in layers:
        for bottom in layer.inputs:
            if bottom not in current:
                raise layer.error(f"it reads blob '{bottom}', which no layer before it writes")
        tensors = tuple(current[bottom] for bottom in layer.inputs)
        read_tensors.update(tensors)
        tops = []
        for top in layer.outputs:
            writes[top] += 1
            is_last = writes[top] == versions[top] and top not in inputs
            tops.append(top if is_last else new_name(names, f"{top}.{layer.name}"))
        if len(set(layer.outputs)) < len(tops):
            raise layer.error("it writes one blob twice")
        current.update(zip(layer.outputs, tops, strict=True))
        written += tops
        layers_out.append(replace(layer, inputs=tensors, outputs=tuple(tops)))
    outputs = tuple(tensor for tensor in written if tensor not in read_tensors)
    if not outputs:
        raise HexsimError(f"{label} has no output; a layer must write a blob that no layer reads")
    return Description(inputs, tuple(layers_out), outputs)


def _asked(net: Description, output_names: Sequence[str], label: str) -> Description:
    """Remove the layers and inputs that no output needs."""
    written = {tensor for layer in net.layers for tensor in layer.outputs}
    for name in output_names:
        if name not in written:
            raise unknown(f"blob of {label}", name, written)
    outputs = tuple(dict.fromkeys(output_names)) or net.outputs
    needed, needed_layers = set(outputs), list[CaffeLayer]()
    for layer in reversed(net.layers):
        if needed.intersection(layer.outputs):
            needed.update(layer.inputs)
            needed_layers.append(layer)
    inputs = {name: shape for name, shape in net.inputs.items() if name in needed}
    return Description(inputs, tuple(reversed(needed_layers)), outputs)
