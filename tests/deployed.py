"""Deployments for tests: a network or a model on a runtime, in one line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.planning.plan import Plan
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime


def as_model(given: Network | Model) -> Model:
    return given if isinstance(given, Model) else Model(given)


def deployed(
    given: Network | Model,
    runtime: Runtime = "dsp",
    chip: str = "sd835",
    *,
    sections: Sequence[Collection[str]] | None = None,
) -> Deployment:
    """Without the checks of `deploy`; `sections` are those of the tensor engine."""
    deployment = Deployment(as_model(given), Platform.load(chip), runtime)
    return deployment if sections is None else deployment.with_sections(sections)


def planned(
    given: Network | Model,
    runtime: Runtime = "dsp",
    *,
    sections: Sequence[Collection[str]] = (),
) -> Plan:
    """The plan of a network on any chip, for a release that has whatever hexsim has."""
    platform = Platform.load("sd855" if runtime == "aip" else "sd835")
    platform = replace(platform, stack=platform.stack.taking("any"))
    deployment = Deployment(as_model(given), platform, runtime)
    return deployment.with_sections(sections, rules="1.25+").plan
