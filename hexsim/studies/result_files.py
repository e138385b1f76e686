"""Read the JSON of `hexsim bench`, `profile` and `llm`, to compare two of them.

Only the keys that are compared are read, so files of other versions work if they have these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hexsim.datasheets.refusals import sentence
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.texts.json_text import parse_json
from hexsim.texts.text import read_text

Number = Annotated[float, Field(ge=0)]
_REMEDY = "give the JSON that hexsim bench, profile or llm wrote"


@dataclass(frozen=True)
class Amount:
    """A number with its unit; `value` is None where the file lacks it."""

    name: str
    unit: str
    value: float | None


@dataclass(frozen=True)
class CaseResult:
    """A network on a runtime: its conditions, its figures, the main time first, and its layers."""

    network: str
    runtime: str
    conditions: Mapping[str, str]
    figures: Sequence[Amount]
    layers: Sequence[Amount]


@dataclass(frozen=True)
class ResultFile:
    """The cases of a file, and the version that wrote it."""

    version: str
    cases: Sequence[CaseResult]


def read_results(path: Path) -> ResultFile:
    """Read a file of results; raise HexsimError if it is anything else."""
    try:
        tree = parse_json(read_text(path, "results", _REMEDY), str(path))
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    of_llm = isinstance(tree, dict) and "tokens_per_second" in tree
    kind: type[_LanguageModelRead | _ResultsRead] = _LanguageModelRead if of_llm else _ResultsRead
    try:
        read = kind.model_validate(tree)
    except ValidationError as error:
        raise HexsimError(f"{sentence(kind, error, str(path))}; {_REMEDY}") from None
    return ResultFile(read.hexsim_version, read.cases)


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class _LayerRead(_Read):
    """A layer, with its time in microseconds."""

    name: str
    us: Number


class _MemoryRead(_Read):
    """Memory at its peak."""

    peak_bytes: int = Field(ge=0)


class _EnergyRead(_Read):
    """Energy of an inference."""

    mj: Number


class _OutputRead(_Read):
    """An output's own agreement with float; None without any noise."""

    tensor: str
    sqnr_db: float | None = None


class _AccuracyRead(_Read):
    """Agreement with float; None without any noise."""

    sqnr_db: float | None = None
    sqnr_reference: str = "float network"
    outputs: tuple[_OutputRead, ...] = ()

    @property
    def amounts(self) -> tuple[Amount, ...]:
        """Return the SQNR, of several outputs also each.

        It has a name of its own if it is against rounded weights.
        """
        is_float = self.sqnr_reference == "float network"
        name = "SQNR" if is_float else f"SQNR against {self.sqnr_reference}"
        several = self.outputs if len(self.outputs) > 1 else ()
        each = (Amount(f"{name} of '{out.tensor}'", "dB", out.sqnr_db) for out in several)
        return (Amount(name, "dB", self.sqnr_db), *each)


class _CaseRead(_Read):
    """A network on a runtime; memory, energy and accuracy where the file has them."""

    network: str
    chip: str
    stack: str
    runtime: str
    perf_profile: str
    buffer: str
    ideal_cpu: bool = False
    anchor: str | None = None
    vtcm_mb: float | None = None
    total_inference_us: Number
    forward_propagate_us: Number
    initialisation_total_us: Number
    layers: tuple[_LayerRead, ...]
    memory: _MemoryRead | None = None
    energy: _EnergyRead | None = None
    accuracy: _AccuracyRead | None = None

    @property
    def case(self) -> CaseResult:
        """Return what is compared."""
        stated = {name: getattr(self, name) for name in ("chip", "stack", "perf_profile", "buffer")}
        stated["ideal_cpu"] = "yes" if self.ideal_cpu else "no"
        stated["anchor"] = self.anchor or "none"
        stated["vtcm_mb"] = _vtcm(self.vtcm_mb)
        return CaseResult(
            self.network,
            self.runtime,
            stated,
            (
                Amount("total inference", "us", self.total_inference_us),
                Amount("forward propagate", "us", self.forward_propagate_us),
                Amount("initialisation", "us", self.initialisation_total_us),
                Amount("peak memory", "B", self.memory.peak_bytes if self.memory else None),
                Amount("energy", "mJ", self.energy.mj if self.energy else None),
                *(self.accuracy.amounts if self.accuracy else (Amount("SQNR", "dB", None),)),
            ),
            tuple(Amount(layer.name, "us", layer.us) for layer in self.layers),
        )


def _vtcm(megabytes: float | None) -> str:
    """Return the VTCM that a graph may use in words."""
    return "all" if megabytes is None else f"{megabytes:g}"


class _ResultsRead(_Read):
    """A file of `hexsim bench` or `profile`."""

    hexsim_version: str
    results: tuple[_CaseRead, ...]

    @property
    def cases(self) -> tuple[CaseResult, ...]:
        """Return what is compared."""
        return tuple(read.case for read in self.results)


class _ArchitectureRead(_Read):
    name: str


class _WidthsRead(_Read):
    weights: int
    head_bits: int
    activations: Literal["8", "16", "float"]


class _LlmConditionsRead(_Read):
    widths: _WidthsRead
    context: int
    prompt: int
    generate: int
    block: int
    part_gb: float


class _PassRead(_Read):
    """A token or a block of the prompt, with the parts of its time."""

    ms: Number
    parts_ms: dict[str, Number]
    ddr_bytes: int = Field(ge=0)
    energy: _EnergyRead


class _PeakRead(_Read):
    peak: int = Field(ge=0)


class _LanguageModelRead(_Read):
    """A file of `hexsim llm`."""

    hexsim_version: str
    chip: str
    stack: str
    vtcm_mb: float | None = None
    architecture: _ArchitectureRead
    conditions: _LlmConditionsRead
    tokens_per_second: Number
    first_token_ms: dict[str, Number]
    total_ms: Number
    token: _PassRead
    block: _PassRead
    memory_bytes: _PeakRead

    @property
    def cases(self) -> tuple[CaseResult, ...]:
        """Return what is compared: one case, whose layers are the parts of both passes' time."""
        asked, passes = self.conditions, {"token": self.token, "block": self.block}
        stated = {"chip": self.chip, "stack": self.stack, "vtcm_mb": _vtcm(self.vtcm_mb)}
        stated |= {"weights": f"w{asked.widths.weights}", "head": f"w{asked.widths.head_bits}"}
        stated["activations"] = asked.widths.activations
        for name in ("context", "prompt", "generate", "block", "part_gb"):
            stated[name] = f"{getattr(asked, name):g}"
        figures = (
            Amount("time of a token", "us", 1e3 * self.token.ms),
            Amount("time of a block", "us", 1e3 * self.block.ms),
            Amount("tokens per second", "1/s", self.tokens_per_second),
            Amount("first token", "ms", self.first_token_ms.get(str(asked.prompt))),
            Amount("whole answer", "us", 1e3 * self.total_ms),
            Amount("peak memory", "B", self.memory_bytes.peak),
            *(Amount(f"DDR per {name}", "B", made.ddr_bytes) for name, made in passes.items()),
            *(Amount(f"energy per {name}", "mJ", made.energy.mj) for name, made in passes.items()),
        )
        parts = tuple(
            Amount(f"{name}: {part}", "us", 1e3 * ms)
            for name, made in passes.items()
            for part, ms in made.parts_ms.items()
        )
        runtime = "htp_fp16" if asked.widths.activations == "float" else "htp"
        return (CaseResult(self.architecture.name, runtime, stated, figures, parts),)
