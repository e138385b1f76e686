"""The charges of one inference: every picosecond of it goes to one layer or one named overhead.

The process of the inference charges time as soon as it has passed, so that the charges add up to
the total exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from hexsim.planning.plan import KernelCall
from hexsim.timing.results import LayerTiming, Overhead, Scope, Span
from hexsim.timing.simtime import Environment
from hexsim.timing.work import NodeWork

_NO_WORK = NodeWork((), "none")


def timing_of(call: KernelCall) -> partial[LayerTiming]:
    """Return what makes the timing of a call, with all that the call says of its layer."""
    layer, kind = call.layer, call.layer_class
    known = partial(LayerTiming, name=layer.name, type=layer.type, layer_class=kind)
    return partial(known, engine=call.engine, macs=call.macs)


@dataclass
class Ledger:
    """The charges of one inference so far; `now` is the time at which the last one ended."""

    env: Environment
    spans: list[Span]
    track: str
    now: int
    lists_layers: bool = True
    layers: list[LayerTiming] = field(default_factory=list)
    overheads: list[Overhead] = field(default_factory=list)

    def overhead(
        self,
        name: str,
        *,
        forward: bool = True,
        work: NodeWork = _NO_WORK,
        scope: Scope = "runtime",
    ) -> None:
        """Charge the time since the last charge to a named part, in which `work` was done."""
        start, self.now = self.now, self.env.now
        if self.now > start:
            self.overheads.append(
                Overhead(
                    name,
                    start,
                    self.now - start,
                    forward,
                    work.read_bytes,
                    work.write_bytes,
                    work.l2_bytes,
                    work.vtcm_bytes,
                    scope,
                    work.packets,
                    work.vector_packets,
                )
            )
            self.spans.append(Span(self.track, name, start, self.now))

    def layer(self, timed: Callable[[], LayerTiming]) -> None:
        """Charge the time since the last charge to a layer, which is only timed if it is listed."""
        if self.lists_layers:
            self.layers.append(timing := timed())
            self.spans.append(Span(self.track, timing.name, self.now, self.env.now))
        self.now = self.env.now

    def aside(self, track: str, name: str, start: int) -> None:
        """Record a span until now on another track of the same job, without a charge."""
        if self.env.now > start:
            prefix = self.track.removesuffix("inference")
            self.spans.append(Span(f"{prefix}{track}", name, start, self.env.now))
