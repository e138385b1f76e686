"""A model as a software release runs it: some functions are several layers there."""

from dataclasses import replace

from hexsim.datasheets.stacks import Stack
from hexsim.passes.functions import unfuse_functions
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model


def as_run_by(stack: Stack, model: Model) -> Model:
    """Return the model with the functions written out that the release does not fuse.

    In a quantised model a new tensor, the output of a sigmoid, has the range 0 to 1 and the bits of
    the function's result. Layers that were compiled for a tensor engine stay as they are.
    """
    compiled = frozenset(name for section in model.hta for name in section.layers)
    network = unfuse_functions(model.network, stack.fusions.functions, compiled)
    if network is model.network:
        return model
    activations, floats = dict(model.activations), dict(model.floats)
    for name in network.tensors.keys() - model.network.tensors.keys():
        (product,) = network.consumers[name]
        if (encoding := model.activations.get(product.output)) is not None:
            activations[name] = Encoding.from_range(0.0, 1.0, encoding.bitwidth)
        elif product.output in model.floats:
            floats[name] = model.floats[product.output]
    return replace(model, network=network, activations=activations, floats=floats)
