"""Settings: networks planned on runtimes of platforms, once for all points that share them.

Language models are read, and deployed anew at each point, since two of their layers stand for all.

Reading, quantising, cutting and planning do not depend on the parameters that points vary, except
for the fastest cut, which is searched on the platform as it is stated.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hexsim.datasheets.background import Background, load
from hexsim.datasheets.datasheet import set_by_caller
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment import Deployment
from hexsim.deployment.calibrated import anchored
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation, SourceModel, runtime_on
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, step, unknown
from hexsim.llm.architecture import Architecture, described_in
from hexsim.llm.network import Conditions, Widths
from hexsim.planning.plan import Plan
from hexsim.records import dataclass, field
from hexsim.runtimes import Runtime
from hexsim.studies.cuts import LayerTimes, Prices, fastest_of
from hexsim.studies.language_model import read_decoder, speed_of
from hexsim.studies.sweep.space import Cut, LanguageModelDeployments, Space
from hexsim.texts.text import visible

DEPLOYMENT = ("weights", "activations", "context", "block")
"""Columns of a deployment, which are empty for other networks."""
SPEEDS = ("tokens_per_s", "first_token_ms")
"""Columns of results that other networks do not have."""


@dataclass(frozen=True)
class DeployedLanguageModel:
    """A language model with its conditions."""

    architecture: Architecture = field(repr=False)
    conditions: Conditions

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The values of DEPLOYMENT."""
        widths = self.conditions.widths
        values = (f"w{widths.weights}", widths.activations)
        return dict(
            zip(DEPLOYMENT, (*values, self.conditions.context, self.conditions.block), strict=True)
        )

    def numbers(self, platform: Platform) -> Mapping[str, float]:
        """Simulate a token and a block of the prompt; the latency is that of a token.

        Errors as in `hexsim.studies.language_model.speed_of`.
        """
        speed = speed_of(self.architecture, platform, self.conditions, shorter_contexts=False)
        energy = speed.token.energy
        return {
            "latency_ms": speed.token.ms,
            "tokens_per_s": speed.tokens_per_second,
            "first_token_ms": speed.first_token_ms[self.conditions.prompt],
            "peak_memory_bytes": speed.memory_bytes.peak,
            "energy_mj": energy.mj,
            "energy_low_mj": energy.mj_low,
            "energy_high_mj": energy.mj_high,
        }


@dataclass(frozen=True)
class Setting:
    """A planned network or language model on a platform.

    `constants` are those that the space varies, as stated.

    The constants in `counted` are whole numbers, so values of the space are rounded. `digest`
    identifies the network as it was given. `loads` are the background loads that the space names.
    """

    network: str
    digest: str
    runtime: Runtime
    cut: Cut
    subject: Plan | DeployedLanguageModel = field(repr=False)
    platform: Platform = field(repr=False)
    constants: Mapping[str, Quantity] = field(repr=False)
    counted: frozenset[str] = field(repr=False)
    loads: Mapping[str, Background] = field(repr=False)

    def platform_with(self, values: Mapping[str, float]) -> Platform:
        """Return the platform with other constants; raise HexsimError if its schema refuses one."""
        changed = {
            path: set_by_caller(self.constants[path], value)
            for path, value in values.items()
            if value != self.constants[path].value
        }
        chip, stack = self.platform.chip, self.platform.stack
        on_chip = {path: c for path, c in changed.items() if chip.states(path)}
        in_stack = {path: c for path, c in changed.items() if path not in on_chip}
        return Platform(
            chip.restated(on_chip) if on_chip else chip,
            stack.restated(in_stack) if in_stack else stack,
        )


def settings(space: Space) -> list[Setting]:
    """Return all settings of a space.

    Raises HexsimError for files that cannot be read, and for platforms that lack a runtime, a
    profile, a buffer type, a constant or VTCM.
    """
    stated = [Platform.load(c, s) for c in space.chips for s in space.stacks or (None,)]
    platforms = anchored(stated, space.anchor)
    varied = [_varied(space, platform) for platform in platforms]
    loads = {name: load(name) for names in space.workload.background for name in names}
    for platform in platforms:
        _require_calls(space, platform)
    pairs = tuple(zip(platforms, varied, strict=True))
    return [*_networks(space, pairs, loads), *_language_models(space, pairs)]


def _networks(
    space: Space,
    platforms: Sequence[tuple[Platform, Mapping[str, Quantity]]],
    loads: Mapping[str, Background],
) -> Iterator[Setting]:
    for source in space.networks or ():
        source_file, digest, name = load_container(source), _digest(source), visible(source)
        for platform, constants in platforms:
            step(f"planning {source} on {platform.chip.name}")
            preparation = Preparation(quantize=True, sections="all")
            loaded = SourceModel(source, source_file, platform, preparation)
            for choice, cut in space.ways:
                runtime = runtime_on(platform, choice, source)
                deployment = _cut(loaded.deployment(runtime), cut)
                plan = deployment.plan.without_values()
                counted = _counted(platform, constants)
                yield Setting(name, digest, runtime, cut, plan, platform, constants, counted, loads)


def _language_models(
    space: Space, platforms: Sequence[tuple[Platform, Mapping[str, Quantity]]]
) -> Iterator[Setting]:
    for source in space.language_models or ():
        models = _deployed(source, space.language_model)
        name, digest = visible(source), _digest(str(described_in(source)))
        for platform, constants in platforms:
            counted = _counted(platform, constants)
            for model in models:
                runtime = model.conditions.widths.runtime
                platform.chip.require(runtime)
                platform.stack.require(runtime)
                yield Setting(
                    network=name,
                    digest=digest,
                    runtime=runtime,
                    cut="automatic",
                    subject=model,
                    platform=platform,
                    constants=constants,
                    counted=counted,
                    loads={},
                )


def _counted(platform: Platform, paths: Iterable[str]) -> frozenset[str]:
    """Return the constants of a platform that are whole numbers."""
    chip, stack = platform.chip, platform.stack
    return frozenset(
        path for path in paths if (chip if chip.states(path) else stack).is_counted(path)
    )


def _digest(source: str) -> str:
    path = Path(source)
    return hashlib.sha256(path.read_bytes() if path.is_file() else source.encode()).hexdigest()


def _cut(deployment: Deployment, cut: Cut) -> Deployment:
    if cut == "automatic":
        return deployment
    prices = Prices(LayerTimes(deployment))
    return deployment.with_cut(prices.cut(fastest_of(prices).best))


def _require_calls(space: Space, platform: Platform) -> None:
    for profile in space.workload.perf_profiles or ():
        platform.stack.profile(profile)
    for buffer in space.workload.buffers or ():
        platform.stack.buffer(buffer)
    for megabytes in space.vtcm_mb or ():
        platform.with_vtcm(megabytes)


def _varied(space: Space, platform: Platform) -> dict[str, Quantity]:
    stated = {
        path: constant
        for datasheet in (platform.stack, platform.chip)
        for path, constant in datasheet.quantities()
    }
    for path, variation in space.constants.items():
        if path not in stated:
            raise unknown(
                f"constant of {platform.chip.name} and {platform.stack.name}", path, stated
            )
        low, high = variation.ends(stated[path])
        if variation.values is not None:
            continue
        if low is None or high is None:
            raise HexsimError(
                f"constant '{path}' of {platform.chip.name} has no bounds of its own; give low and "
                "high, or values"
            )
        if not low < high or (variation.scale == "log" and low <= 0):
            raise HexsimError(
                f"constant '{path}' has a range from {low:g} to {high:g}; give a low below the "
                "high, and above 0 for a log scale"
            )
    return {path: stated[path] for path in space.constants}


def _deployed(source: str, deployments: LanguageModelDeployments) -> list[DeployedLanguageModel]:
    """Read a model, and combine it with all conditions; HexsimError for what does not fit."""
    architecture = read_decoder(source)
    lists = (
        deployments.weights or (None,),
        deployments.activations,
        deployments.contexts,
        deployments.blocks,
    )
    return [
        DeployedLanguageModel(
            architecture,
            Conditions(
                Widths.parse(weights, activations, architecture),
                context=context,
                prompt=deployments.prompt,
                generate=0,
                block=block,
            ),
        )
        for weights, activations, context, block in itertools.product(*lists)
    ]
