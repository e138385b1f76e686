"""Graph passes: each takes a network and returns one that is cheaper to run.

Values change only by float rounding. Names of inputs and outputs stay, and every layer that absorbs
another records its name in `fused`. The name of a tensor that a pass leaves stands for the same
values after it, perhaps in another shape or order.
"""

from hexsim.graph.imports import Recognised, layer_kind
from hexsim.graph.ir import Network
from hexsim.passes.fold_batch_norm import fold_batch_norm, fold_factor, fold_flatten, fold_pad
from hexsim.passes.functions import find_functions, fuse_clamps
from hexsim.passes.hoist_reshapes import hoist_reshapes, hoist_row_reshapes, join_before_slices
from hexsim.passes.normalizations import find_normalizations, fold_normalization, move_softmax_axis
from hexsim.passes.rearrangements import (
    find_dilations,
    find_rearrangements,
    remove_dead_code,
    remove_no_ops,
)

PASSES = (
    remove_no_ops,
    remove_dead_code,
    find_dilations,
    find_functions,
    find_normalizations,
    hoist_reshapes,
    hoist_row_reshapes,
    fold_factor,
    fold_normalization,
    fold_pad,
    fold_batch_norm,
    fuse_clamps,
    move_softmax_axis,
    join_before_slices,
    find_rearrangements,
    fold_flatten,
    remove_no_ops,
    remove_dead_code,
)
"""The passes in their order: no pass may hide a pattern from a later one."""


def optimize(network: Network) -> Network:
    """Return `network` as the converter leaves it: folded, fused, without no-ops."""
    return optimize_reported(network)[0][-1]


def optimize_reported(
    network: Network, *, keep_batch_norm: bool = False
) -> tuple[tuple[Network, ...], tuple[Recognised, ...]]:
    """Return the network after each pass, and which layers were combined, in this order.

    The first network is the given one, the last the optimised one. `keep_batch_norm` leaves scales
    and shifts per channel as separate layers.
    """
    recognised: list[Recognised] = []
    stages = [network]
    for optimize_pass in PASSES:
        if keep_batch_norm and optimize_pass is fold_batch_norm:
            continue
        before = {layer.name: frozenset(layer.fused) for layer in network.layers}
        network = optimize_pass(network)
        if network.layers != stages[-1].layers:
            stages.append(network)
        rule = optimize_pass.__name__.replace("_", " ")
        for layer in network.layers:
            absorbed = tuple(name for name in layer.fused if name not in before.get(layer.name, ()))
            if absorbed:
                recognised.append(Recognised(f"{rule}: {layer_kind(layer)}", layer.name, absorbed))
    return tuple(stages), tuple(recognised)
