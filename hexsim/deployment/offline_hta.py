"""Compiling HTA sections into a quantised network, as `snpe-dlc-quantize` does."""

from collections.abc import Sequence
from pathlib import Path

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.deployment.deployment import Deployment, as_run_by
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import Network
from hexsim.hta.compiler import compile_subnet
from hexsim.planning.sections import Listed, all_listed, automatic, from_ids, parse, refusals
from hexsim.quantization.model import HtaSection, Model
from hexsim.records import dataclass, replace
from hexsim.runtimes import Runtime
from hexsim.texts.figures import figure


class NothingToCompile(HexsimError):  # noqa: N818 (named for what happened)
    """The compiler finds no section by itself; the network stays as it is."""


@dataclass(frozen=True)
class CompileOrder:
    """The sections to compile (None: all), the chip and the release."""

    chip: Chip
    stack: Stack
    ids: tuple[tuple[int, int], ...] | None = None

    @property
    def platform(self) -> Platform:
        """Chip and release."""
        return Platform(self.chip, self.stack)

    def check(self, model: Model) -> None:
        """Raise HexsimError if the chip has no tensor engine or the ids break a rule."""
        self.chip.require("aip")
        self.stack.require("aip")
        if self.ids is not None:
            from_ids(model, self.ids, self.stack.partitioning)


def with_hta(model: Model, order: CompileOrder) -> Model:
    """Return `model` with the sections of `order`, instead of any it had for that chip.

    A function that the release does not fuse is two layers in it, on the engine too. Raises
    NothingToCompile if the compiler finds nothing by itself, HexsimError if the ids break a rule or
    the chip has no tensor engine.
    """
    chip, release = order.chip, order.stack.partitioning
    chip.require("aip")
    sections = (
        automatic(model, release) if order.ids is None else from_ids(model, order.ids, release)
    )
    if not sections:
        raise _nothing(model, order)
    written_out = as_run_by(order.stack, model)
    names = [_layers_of(section, model.network, written_out.network) for section in sections]
    plan = Deployment(written_out, order.platform, "aip").with_sections(names).plan
    compiled = tuple(
        HtaSection(
            chip.name,
            tuple(layer.name for layer in subnet.layers),
            compile_subnet(subnet, chip.name, chip.hta).to_bytes(),
        )
        for subnet in plan.subnets
        if subnet.engine == "hta"
    )
    of_other_chips = tuple(section for section in model.hta if section.chip != chip.name)
    return replace(written_out, hta=of_other_chips + compiled)


def _layers_of(section: range, network: Network, written_out: Network) -> tuple[str, ...]:
    """Return the names of the layers that those of a section have become.

    The first of several layers has the name of the one that they stand for.
    """
    at = {layer.name: index for index, layer in enumerate(network.layers)}
    names, inside = [], False
    for layer in written_out.layers:
        inside = at[layer.name] in section if layer.name in at else inside
        if inside:
            names.append(layer.name)
    return tuple(names)


def _nothing(model: Model, order: CompileOrder) -> NothingToCompile:
    network, release = model.network, order.stack.partitioning
    reasons = zip(network.layers, refusals(model, release), strict=True)
    layer, why = max(
        ((layer, why) for layer, why in reasons if why is not None),
        key=lambda refused: network.macs(refused[0]),
        default=(None, "the rules allow no section with multiply-adds"),
    )
    where = f"layer '{layer.name}': {why}" if layer else why
    return NothingToCompile(
        f"nothing of '{network.name}' can be compiled for the HTA of {order.chip.name} ({where})"
    )


@dataclass(frozen=True)
class HtaChoice:
    """The sections of the compiler, as `orders` reads them, and what they are worth.

    Times are those of one inference with the compiler's sections and with none, in us.
    """

    ids: str
    compiled_us: float
    uncut_us: float

    @property
    def takes_sections(self) -> bool:
        """True if the sections make the inference faster."""
        return self.compiled_us < self.uncut_us

    @property
    def sentence(self) -> str:
        """What was chosen, and what the compiler would have done."""
        sections = f"sections {self.ids}" if "," in self.ids else f"section {self.ids}"
        compiled, uncut = (f"{figure(us / 1e3)} ms" for us in (self.compiled_us, self.uncut_us))
        if self.takes_sections:
            return f"HTA {sections}, as SNPE's compiler makes them: {compiled}, without {uncut}"
        return (
            f"no HTA section: SNPE's compiler makes {sections}, with which an inference takes "
            f"{compiled}, without {uncut}; "
            "quantising for HTA compiles them"
        )


def chosen(
    model: Model, platform: Platform, perf_profile: str | None = None
) -> tuple[Model, HtaChoice | None]:
    """Return a newly quantised model for aip, with the compiler's sections if they make it faster.

    The choice is None if the compiler finds no section, or the chip lacks the data for times: the
    model then is as compiled.
    """
    compiled = prepared(model, platform, "aip")
    if compiled is model or not platform.chip.simulates("aip"):
        return compiled, None
    with_sections, without = (
        Deployment(candidate, platform, "aip").simulate(perf_profile=perf_profile).total_us
        for candidate in (compiled, model)
    )
    ids = all_listed(model.network, automatic(model, platform.stack.partitioning))
    choice = HtaChoice(ids, with_sections, without)
    return (compiled if choice.takes_sections else model), choice


def prepared(model: Model, platform: Platform, runtime: Runtime) -> Model:
    """Return a newly quantised model for `runtime`: for aip with all sections that compile."""
    if runtime != "aip":
        return model
    compiled, _ = compile_all(model, [CompileOrder(platform.chip, platform.stack)])
    return compiled


def orders(texts: Sequence[str], chip: str, stack: str | Path | None) -> tuple[CompileOrder, ...]:
    """Read lists of sections; lists without a chip's name are for `chip`.

    Without a list sections are automatic. `stack` None means each chip's own. Raises HexsimError
    for a text that is no list, an unknown chip, and two lists for one chip.
    """
    by_chip: dict[str, CompileOrder] = {}
    for listed in [parse(text) for text in texts] or [Listed("", None)]:
        loaded = chips.load(listed.asic or chip)
        if loaded.name in by_chip:
            raise HexsimError(
                f"{spelled('hta_partitions')} has two lists for {loaded.name}; put all sections "
                "in one, "
                "as in '0-11,15-20'"
            )
        release = stacks.load(stack or loaded.default_stack)
        by_chip[loaded.name] = CompileOrder(loaded, release, listed.ranges)
    return tuple(by_chip.values())


def compile_all(model: Model, orders: Sequence[CompileOrder]) -> tuple[Model, tuple[str, ...]]:
    """Return `model` with all sections that could be compiled, and a sentence per failure."""
    failures = []
    for order in orders:
        try:
            model = with_hta(model, order)
        except NothingToCompile as failure:
            failures.append(str(failure))
    return model, tuple(failures)
