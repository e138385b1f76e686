"""One layer as a network, quantised by hand, so that its result can be held against floats."""

import numpy as np

from hexsim.datasheets.chips import SignedKernels
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.int8.runner import IntegerSubnet
from hexsim.int8.step import Buffers
from hexsim.lowering import lower
from hexsim.planning.plan import Subnet
from hexsim.planning.planner import make_plan
from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding, input_codes
from hexsim.quantization.model import Model
from tests.int8.guarded_memory import BEHIND, GuardedWorkspace, guarded, run_guarded


def quantized(layers, inputs, constants, encodings, outputs):
    """A quantised network; `inputs` maps names to shapes, `constants` names to arrays.

    `encodings` maps activations and constant operands to theirs; weights get their own range.
    """
    shapes = dict(inputs)
    for layer in layers:
        of_inputs = [shapes.get(n) or constants[n].shape for n in layer.inputs]
        shapes.update(zip(layer.outputs, layer.output_shapes(of_inputs), strict=True))
    network = Network(
        "hand-built",
        tuple(layers),
        {name: Tensor(name, shape) for name, shape in shapes.items()},
        {name: Constant(name, array.shape, array) for name, array in constants.items()},
        tuple(inputs),
        tuple(outputs),
    )
    network.check()
    parameters = {
        name: Encoding.from_range(*_range(constants[name]))
        for layer in layers
        for name in (getattr(layer, "weight", None), getattr(layer, "recurrence", None))
        if name is not None
    }
    return Model(network, encodings, parameters, quantized=True)


SIGNED = SignedKernels(65, 256 * 1024)
"""The kernels of a V65."""


def lowered(model, signed_weights=False):
    """All calls of a network that runs on the DSP; with `signed_weights` on V65."""
    subnet = make_plan(model, "dsp", [Subnet("dsp", "hvx", model.network.layers, "all")]).subnets[0]
    return subnet, tuple(lower(subnet, model, signed_kernels=SIGNED if signed_weights else None))


def subnet_of(model, signed_weights=False):
    """A network as an IntegerSubnet."""
    subnet, calls = lowered(model, signed_weights)
    return IntegerSubnet(calls, subnet.inputs, subnet.outputs)


def codes_of(subnet, calls, feed, threads=1):
    """The codes of every tensor of a subnet, its inputs included."""
    tensors = {x.name: x for call in calls for x in (*call.inputs, call.output) if x.codes is None}
    reals = IntegerSubnet(calls, subnet.inputs, list(tensors), threads).run(feed)
    return {name: tensors[name].encoding.quantize(array) for name, array in reals.items()}


def run_layer(
    layer, feeds, output_range, constants=None, signed_weights=False, bits=8, least=MINIMUM_RANGE
):
    """Run one layer; return its float result, the reals its kernel saw, and the output's step.

    `least` is the smallest range of its encodings.
    """
    constants = constants or {}
    encodings = {
        name: Encoding.from_range(*_range(array), bits, least)
        for name, array in {**feeds, **constants}.items()
        if name in layer.inputs
    }
    encodings[layer.output] = Encoding.from_range(*output_range, bits, least)
    shapes = {name: array.shape for name, array in feeds.items()}
    model = quantized([layer], shapes, constants, encodings, [layer.output])
    result = subnet_of(model, signed_weights).run(feeds)[layer.output]
    codes = {name: input_codes(array, encodings[name]) for name, array in feeds.items()}
    codes |= {n: encodings[n].quantize(array) for n, array in constants.items() if n in encodings}
    seen = {name: encodings[name].dequantize(q).astype(np.float64) for name, q in codes.items()}
    for name, encoding in model.parameters.items():
        seen[name] = encoding.dequantize(model.codes(name)).astype(np.float64)
    return result, seen, encodings[layer.output].delta


def assert_within(result, expected, step, steps=0.75):
    """Every element is within `steps` output steps of the float answer."""
    np.testing.assert_array_less(np.abs(result - expected), steps * step)


def _range(array):
    return float(np.min(array)), float(np.max(array))


def execute(prepared, inputs, output):
    """Write the result of `inputs` into `output`, once, with forbidden pages behind all memory."""
    codes = [guarded(x, BEHIND) for x in inputs]
    result = guarded(output, BEHIND)
    for work in prepared.steps(Buffers(codes, result, GuardedWorkspace(BEHIND))):
        run_guarded(work, 1, BEHIND)
    output[...] = result
