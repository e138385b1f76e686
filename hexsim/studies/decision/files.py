"""Compare cost and accuracy of a float and a quantised file of one network on each runtime.

Both files are written and read back, so that sizes are those of .dlc files, and a runtime that
dequantises works with the weights of the quantised file.

A runtime that quantises a float file at load uses ranges of the inputs that calibrate, or else of
those that judge; the real one computes ranges for each input again. Accuracy is measured on class
scores, before a final softmax.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim import dlc
from hexsim.accuracy.agreement import Agreements
from hexsim.deployment import AtLoad, Deployment, deploy
from hexsim.deployment.findings import findings_of
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError, step
from hexsim.files.atomic_write import scratch
from hexsim.graph.ir import Network
from hexsim.host.initialisation import loading_bytes
from hexsim.inputs.source import InputRoles
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Model, Reference
from hexsim.records import dataclass, replace
from hexsim.results.accuracy import Accuracy
from hexsim.results.decision import Decision, FileChoice, FileKind
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.studies.inferences import anchor_fields, place_errors
from hexsim.studies.judging import ComparedModel
from hexsim.studies.uncertainty import FEW, drawn, draws, few_draws
from hexsim.timing.picoseconds import PS_PER_US


@dataclass(frozen=True)
class GivenFiles:
    """The files: a model that is quantised or will be, and the float network, if there is one."""

    compared: ComparedModel
    floats: Network | None

    @property
    def judged(self) -> Model:
        """The model whose inputs are wanted: the float one, if there is one."""
        return self.compared.model if self.floats is None else Model(self.floats)


def read_files(
    source: str,
    float_source: str | None,
    *,
    input_dims: Mapping[str, Sequence[int]],
    override_params: bool | None,
) -> GivenFiles:
    """Read a model, and the float one that a quantised one was made from, if it is named.

    Errors as in `ComparedModel.load`.
    """
    given = ComparedModel.load(source, float_source, input_dims, override_params)
    if not given.model.quantized:
        return GivenFiles(given, given.model.network)
    floats = None if float_source is None else given.original or given.model.network
    reference = given.reference
    if given.original is not None:
        reference = f"float reference: '{float_source}' as it is, before equalisation"
    model = load(source, input_dims=input_dims)  # with the weights of the file
    return GivenFiles(replace(given, model=model, reference=reference), floats)


@dataclass(frozen=True)
class FileConditions:
    """The conditions that all choices share; `runtimes` None means all.

    With `hta`, models that are quantised here get sections for the tensor engine. `remark` is added
    to the note on the encodings.
    """

    runtimes: Sequence[Runtime] | None = None
    perf_profile: str | None = None
    idle_ms: float = 0.0
    cpu_fallback: bool = True
    hta: bool = True
    remark: str = ""


def compare_files(
    given: GivenFiles, platforms: Sequence[Platform], inputs: InputRoles, conditions: FileConditions
) -> Decision:
    """Compare the files on all runtimes, file by file, in the platform's order of runtimes.

    The reference is the float network, or without one the quantised network with float weights.
    """
    source, network, places = inputs.judging, given.judged.network, list[tuple[Platform, Runtime]]()
    choices, findings, notes = list[FileChoice](), dict[Loss, None](), dict[str, None]()
    reference: Reference = "float network"
    with scratch() as folder:
        path = folder / "file.dlc"
        for platform in platforms:
            step("calibrating")
            codes, how = given.compared.coded(platform, inputs, "aip", hta=conditions.hta)
            notes[how + conditions.remark] = None
            reference = codes.reference if given.floats is None else reference
            losses = findings_of(Deployment(codes, platform, "aip"), conditions.perf_profile)
            findings |= dict.fromkeys(losses)
            bench = _Bench(given, platform, inputs, conditions)
            models: dict[FileKind, Model] = {"quantised": codes}
            if given.floats is not None:
                models = {"float": Model(given.floats), **models}
            for kind, model in models.items():
                step(f"writing the {kind} file")
                dlc.write(path, model)
                stored_model = dlc.read(path).model
                for runtime in platform.runtimes:
                    if conditions.runtimes is None or runtime in conditions.runtimes:
                        step(f"{kind} file on {platform.chip.name} {runtime}")
                        size = path.stat().st_size
                        places.append((platform, runtime))
                        choices.append(bench.choice(kind, size, stored_model, runtime))
    if not choices:
        raise HexsimError(f"no chip has {', '.join(conditions.runtimes or ())}; give others")
    return Decision(
        network=network.name,
        **anchor_fields(platforms[0].anchor),
        vtcm_mb=platforms[0].vtcm_mb,
        inputs=source.items,
        notes=(source.description, *notes, given.compared.reference),
        classifier=all(choice.classes for choice in choices if choice.inputs),
        labelled=inputs.labels is not None,
        seeded=source.seeded,
        expected_errors=place_errors(places),
        files=tuple(choices),
        findings=tuple(findings),
        reference=reference,
    )


class _Bench:
    """Times and runs models; runtimes with equal arithmetic share results."""

    def __init__(
        self, given: GivenFiles, platform: Platform, inputs: InputRoles, conditions: FileConditions
    ) -> None:
        reference, source = given.judged.network, inputs.judging
        self._agreements = Agreements(reference, source.feeds, source.items, inputs.labels)
        self._platform, self._conditions = platform, conditions
        self._drawn = draws(platform, FEW)
        calibration = (inputs.calibrating or source).feeds
        self._at_load = AtLoad(reference, platform, calibration, given.compared.overrides)

    def choice(self, kind: FileKind, size: int, model: Model, runtime: Runtime) -> FileChoice:
        coded = model.quantized or (runtime in FIXED_POINT and self._at_load.coded)
        rule = self._platform.load_rule(runtime, quantized=coded)
        costs: dict[str, Any] = {"loading": rule.sentence}
        if rule.effect == "refuse":
            costs = {"loading": "refused", "refusal": rule.sentence}
        else:
            at_load = None if model.quantized or runtime not in FIXED_POINT else self._at_load
            fallback = self._conditions.cpu_fallback
            try:
                deployment = deploy(
                    model, self._platform, runtime, cpu_fallback=fallback, at_load=at_load
                )
            except HexsimError as error:
                costs |= {"refusal": str(error)}
            else:
                costs |= self._costs(deployment) | _accuracy(self._agreements.of(deployment))
        return FileChoice(
            chip=self._platform.chip.name,
            stack=self._platform.software,
            file=kind,
            file_bytes=size,
            runtime=runtime,
            **costs,
        )

    def _costs(self, deployment: Deployment) -> dict[str, Any]:
        workload = deployment.workload(
            perf_profile=self._conditions.perf_profile, idle_ms=self._conditions.idle_ms
        )
        timing = self._platform.simulate(workload)
        doubt = few_draws(drawn(self._drawn, workload), timing)
        memory = deployment.memory()
        loading = loading_bytes(
            deployment.plan, self._platform.stack, memory.weight_bytes, memory.packed_bytes
        )
        at_load_ps = sum(map(timing.init_part_ps, ("quantize", "dequantize")))
        return {
            "initialisation_us": timing.init_ps / PS_PER_US,
            "initialisation_low_us": doubt.low.initialisation_us,
            "initialisation_high_us": doubt.high.initialisation_us,
            "total_inference_us": timing.total_us,
            "forward_propagate_us": timing.forward_us,
            "peak_memory_bytes": memory.peak_bytes,
            "load_memory_bytes": int(loading.value),
            "load_memory_low_bytes": int(loading.low),
            "load_memory_high_bytes": int(loading.high),
            "at_load_us": at_load_ps / PS_PER_US,
        }


def _accuracy(agreement: Accuracy) -> dict[str, Any]:
    return {
        "inputs": agreement.inputs,
        "same_top1": agreement.top1_agreement,
        "runtime_top1": agreement.top1_right,
        "float_top1": agreement.float_top1_right,
        "sqnr_db": agreement.sqnr_db,
        "classes": agreement.top1_agreement is not None,
        "outputs": agreement.outputs,
    }
