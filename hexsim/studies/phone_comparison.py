"""The profile of a phone beside the simulation of its network."""

from collections.abc import Mapping

from msgspec.structs import replace

from hexsim.deployment.findings import findings_of
from hexsim.deployment.given import GivenModel
from hexsim.deployment.phone_profile.comparison import LayerPair as Paired
from hexsim.deployment.phone_profile.comparison import (
    compare_profile,
    selected_run,
    simulated_beside,
)
from hexsim.deployment.phone_profile.profile import PhoneProfile
from hexsim.deployment.platform import Platform
from hexsim.results.phone import (
    CalibrationRow,
    LayerPair,
    MeasuredOnly,
    Pair,
    PhoneComparison,
    SimulatedOnly,
    shape_text,
)
from hexsim.runtimes import Runtime
from hexsim.studies.inferences import anchor_fields
from hexsim.texts.fields import taken

_COLUMNS = {"cpu_us": ("cpu", ""), "gpu_us": ("gpu", ""), "dsp_us": ("dsp", "")} | {
    "dsp_tf8_buffers_us": ("dsp", "tf8")
}
"""Columns of rows for calibration: runtime and buffers."""


def beside_phone(
    profile: PhoneProfile,
    loaded: GivenModel,
    platform: Platform,
    runtime: Runtime | None,
    perf_profile: str | None,
    buffer: str | None,
    file: str,
) -> PhoneComparison:
    """Simulate a model, given on `platform`, beside the profile of a `file`, on its runtime.

    `runtime` says which, if the file has several.
    `perf_profile` and `buffer` replace those of the profile. Raises HexsimError if nothing in it
    fits the model or the chip.
    """
    run, here = selected_run(profile, platform.runtimes, runtime, buffer)
    deployment, timing, used = simulated_beside(
        profile, run, loaded, here, perf_profile=perf_profile, buffer=buffer
    )
    paired, *others = (
        compare_profile(profile, each, deployment, timing) for each in (run, *profile.runs)
    )
    answer = PhoneComparison(
        network=deployment.network.name,
        chip=platform.chip.name,
        stack=platform.stack.name,
        runtime=deployment.runtime,
        **anchor_fields(platform.anchor),
        perf_profile=used,
        format=profile.format,
        remark=profile.remark,
        layers=tuple(
            taken(
                LayerPair,
                pair,
                output_nchw=pair.shape,
                rows=tuple(row.name or row.id for row in pair.rows),
            )
            for pair in paired.layers
        ),
        classes=tuple(taken(Pair, pair) for pair in paired.classes),
        totals=tuple(taken(Pair, pair) for pair in paired.totals),
        only_measured=tuple(
            taken(MeasuredOnly, row, measured_us=row.us) for row in paired.only_measured
        ),
        only_simulated=tuple(taken(SimulatedOnly, pair) for pair in paired.only_simulated),
        software=platform.software,
        findings=findings_of(deployment, used),
    )
    by_run = {
        (each.runtime or here, each.buffer): {pair.name: pair for pair in other.layers}
        for each, other in zip(profile.runs, others, strict=True)
    }
    columns = {name: by_run.get(key, {}) for name, key in _COLUMNS.items()}
    source = f"{file}, {profile.format}"
    rows = tuple(_calibration_row(answer, pair, columns, source) for pair in answer.layers)
    return replace(answer, calibration=rows)


def _calibration_row(
    answer: PhoneComparison,
    pair: LayerPair,
    columns: Mapping[str, Mapping[str, Paired]],
    source: str,
) -> CalibrationRow:
    """Return a layer on all runtimes; a column that the phone did not measure stays empty."""
    measured = {name: layers[pair.name] for name, layers in columns.items() if pair.name in layers}
    dsp = measured["dsp_us"].rows if "dsp_us" in measured else ()
    lows = [row.us if row.low_us is None else row.low_us for row in dsp]
    highs = [row.us if row.high_us is None else row.high_us for row in dsp]
    return taken(
        CalibrationRow,
        pair,
        network=answer.network,
        chip=answer.chip,
        stack=answer.stack,
        profile=answer.perf_profile,
        layer=pair.name,
        output_nchw=shape_text(pair.output_nchw),
        dsp_min_us=sum(lows) if dsp else None,
        dsp_max_us=sum(highs) if dsp else None,
        source=source,
        **{name: other.measured_us for name, other in measured.items()},
    )
