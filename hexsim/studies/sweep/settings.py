"""Settings: networks on runtimes of platforms, made ready once for all points that share them.

Reading, quantising, cutting and planning do not depend on what a point varies, but for the fastest
cut, which is looked for on the platform as it is stated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hexsim.datasheets.background import Background, load
from hexsim.datasheets.datasheet import set_by_caller
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment import Deployment
from hexsim.deployment.given import GivenModel, Preparation
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, unknown
from hexsim.planning.plan import Plan
from hexsim.runtimes import Runtime
from hexsim.studies.cuts import Prices, search
from hexsim.studies.cuts.times import LayerTimes
from hexsim.studies.sweep.space import Calls, Cut, Space
from hexsim.studies.sweep.values import ends
from hexsim.texts.names import visible


@dataclass(frozen=True)
class Setting:
    """A planned network on a platform; `constants` are those that the space varies, as stated.

    Those `counted` are whole numbers: what the space asks for is rounded. `digest` tells the
    network, as it was given, from others. `loads` are the background loads that the space names,
    read here, where their files are.
    """

    network: str
    digest: str
    runtime: Runtime
    cut: Cut
    plan: Plan = field(repr=False)
    platform: Platform = field(repr=False)
    constants: Mapping[str, Quantity] = field(repr=False)
    counted: frozenset[str] = field(repr=False)
    loads: Mapping[str, Background] = field(repr=False)

    def platform_with(self, values: Mapping[str, float]) -> Platform:
        """The platform with other constants; HexsimError for one that its schema refuses."""
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


def settings(space: Space, progress: Callable[[str], None] = lambda what: None) -> list[Setting]:
    """Make all settings of a space ready.

    Raises HexsimError for what cannot be read, and for platforms that lack a runtime, a profile, a
    buffer type or a constant.
    """
    platforms = [Platform.load(c, s) for c in space.chips for s in space.stacks or (None,)]
    varied = [_varied(space, platform) for platform in platforms]
    loads = {name: load(name) for names in space.workload.background for name in names}
    for platform in platforms:
        _require_calls(space.workload, platform)
    found = []
    for source in space.networks:
        read, digest, name = load_container(source), _digest(source), visible(source)
        for platform, constants in zip(platforms, varied, strict=True):
            progress(f"planning {source} on {platform.chip.name}")
            given = GivenModel(source, read, platform, Preparation(quantize=True), progress)
            for runtime, cut in space.ways:
                deployment = _cut(given.deployment(runtime), cut)
                plan = deployment.plan.without_values()
                counted = _counted(platform, constants)
                found.append(
                    Setting(name, digest, runtime, cut, plan, platform, constants, counted, loads)
                )
    return found


def _counted(platform: Platform, paths: Iterable[str]) -> frozenset[str]:
    """Those constants of a platform that are whole numbers."""
    chip, stack = platform.chip, platform.stack
    return frozenset(
        path for path in paths if (chip if chip.states(path) else stack).is_counted(path)
    )


def _digest(source: str) -> str:
    """That of the file, or of the name of a built-in network."""
    path = Path(source)
    return hashlib.sha256(path.read_bytes() if path.is_file() else source.encode()).hexdigest()


def _cut(deployment: Deployment, cut: Cut) -> Deployment:
    if cut == "automatic":
        return deployment
    prices = Prices(LayerTimes(deployment))
    return deployment.with_cut(prices.cut(search(prices).best))


def _require_calls(calls: Calls, platform: Platform) -> None:
    for profile in calls.perf_profiles or ():
        platform.stack.profile(profile)
    for buffer in calls.buffers or ():
        platform.stack.buffer(buffer)


def _varied(space: Space, platform: Platform) -> dict[str, Quantity]:
    """The constants that vary, as the platform states them."""
    known = {
        path: constant
        for sheet in (platform.stack, platform.chip)
        for path, constant in sheet.quantities()
    }
    for path, how in space.constants.items():
        if path not in known:
            raise unknown(
                f"constant of {platform.chip.name} and {platform.stack.name}", path, known
            )
        low, high = ends(how, known[path])
        if how.values is not None:
            continue
        if low is None or high is None:
            raise HexsimError(
                f"constant '{path}' of {platform.chip.name} has no bounds of its own; give low and "
                "high, or values"
            )
        if not low < high or (how.scale == "log" and low <= 0):
            raise HexsimError(
                f"constant '{path}' has a range from {low:g} to {high:g}; give a low below the "
                "high, and above 0 for a log scale"
            )
    return {path: known[path] for path in space.constants}
