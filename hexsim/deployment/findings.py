"""What a deployment loses for certain: values, by its encodings, and time, by its HTA sections."""

from collections.abc import Iterable, Iterator

from hexsim.deployment.deployment import Deployment
from hexsim.deployment.offline_hta import CompileOrder
from hexsim.errors import HexsimError, spelled
from hexsim.planning.sections import hta_sections
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Model
from hexsim.texts.figures import figure


def findings_of(
    deployment: Deployment, perf_profile: str | None = None, *, at_load: bool = False
) -> tuple[Loss, ...]:
    """Return the losses of a deployment, first of time with `perf_profile`, then of values.

    A float model is not quantised for them, unless those that it has `at_load` are wanted. Codes of
    a model that was quantised for its times alone are never run, so they lose nothing.
    """
    known = at_load or not deployment.quantizes
    of_values = deployment.findings if known and not deployment.model.uncalibrated else ()
    return (*slower_sections(deployment, perf_profile), *of_values)


def slower(model: Model, orders: Iterable[CompileOrder]) -> list[Loss]:
    """Return a finding for each chip whose sections, compiled by `orders`, cost time."""
    on_aip = (Deployment(model, order.platform, "aip") for order in orders)
    return [finding for deployment in on_aip for finding in slower_sections(deployment)]


def slower_sections(deployment: Deployment, perf_profile: str | None = None) -> Iterator[Loss]:
    """Yield a finding if the HTA sections of the file make an inference slower than none would.

    What the runtime refuses has no times.
    """
    chip, model = deployment.platform.chip, deployment.model
    sections = [section for section in hta_sections(model) if section.chip == chip.name]
    if not sections or deployment.runtime != "aip" or not chip.simulates("aip"):
        return
    try:
        with_them, without = (
            each.simulate(perf_profile=perf_profile).total_us
            for each in (deployment, deployment.with_sections(()))
        )
    except HexsimError:
        return
    if with_them > without:
        times = [f"{figure(us / 1e3)} ms" for us in (with_them, without)]
        several = ("s", "make") if len(sections) > 1 else ("", "makes")
        yield Loss(
            kind="slower sections",
            layer=sections[0].first,
            tensor="",
            share=1.0 - without / with_them,
            sentence=f"HTA section{several[0]} {','.join(section.ids for section in sections)} "
            f"{several[1]} aip of {chip.name} slower: an inference takes {times[0]}, without "
            f"{times[1]}; quantise without {spelled('enable_hta')}, or with the sections of hexsim "
            f"partition {spelled('search', True)}",
        )
