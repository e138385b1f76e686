"""Compare results: documents, or the JSON that a command wrote of them.

Cases are paired by network and runtime, and by chip if both results have the same chips, layers by
name; equal keys are paired in their order. On other chips the DSP and the tensor processor stand
for each other, and so do the only cases of a network that are left; on the same chips those of a
network of which nothing else is paired. Benchmarks and language models have figures with names of
their own. Of any other document all numbers with units are compared, as they are declared.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from msgspec.structs import fields as struct_fields

from hexsim import __version__
from hexsim.discovery import classes
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.results.accuracy import Accuracy
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.results.comparison import CaseChange, Comparison, ConditionChange, Fastest, FigureChange
from hexsim.results.document import Document
from hexsim.results.language_model import LanguageModel
from hexsim.texts.fields import Part, fields
from hexsim.texts.text import read_text
from hexsim.texts.trees import parse_json

Item = TypeVar("Item")
_REMEDY = "give the JSON of hexsim bench, profile, llm or another command"


@dataclass(frozen=True)
class Amount:
    """A number with its unit; `value` is None where the result lacks it."""

    name: str
    unit: str
    value: float | None


@dataclass(frozen=True)
class Case:
    """A network on a runtime: its conditions, its figures, the main time first, and its layers."""

    network: str
    runtime: str
    conditions: Mapping[str, str]
    figures: Sequence[Amount]
    layers: Sequence[Amount]

    @property
    def place(self) -> str:
        """The runtime, and the chip where that is known."""
        chip = self.conditions.get("chip", self.runtime)
        return self.runtime if chip == self.runtime else f"{self.runtime} of {chip}"


@dataclass(frozen=True)
class Written:
    """A document, and the version of hexsim that made it."""

    document: Document
    version: str = __version__


def read_result(path: Path) -> Written:
    """Read what a command wrote as JSON; HexsimError if it is no result."""
    text = read_text(path, "results", _REMEDY)
    tree = parse_json(text, str(path))
    if not isinstance(tree, dict) or not isinstance(tree.get("hexsim_version"), str):
        raise HexsimError(f"{path}: there is no key 'hexsim_version'; {_REMEDY}")

    def strangeness(kind: type[Document]) -> tuple[int, int]:
        """Return how many keys are missing, and how many are not of this kind."""
        needed = {field.encode_name for field in struct_fields(kind) if field.required}
        known = {field.encode_name for field in struct_fields(kind)}
        return len(needed - tree.keys()), len(tree.keys() - known)

    kinds = [kind for kind in classes("hexsim.results", Document) if kind.WRITTEN_BY]
    kind = min(kinds, key=strangeness)
    return Written(kind.from_json(text, str(path)), tree["hexsim_version"])


def compare(before: Written, *others: Written) -> Comparison:
    """Pair the cases of a result with those of each other; HexsimError for a negative figure."""
    old_cases = _cases(before.document)
    pairs = [pair for after in others for pair in _pairs(old_cases, _cases(after.document))]
    documents = [each.document for each in (before, *others)]
    return Comparison(
        versions=(before.version, *(after.version for after in others)),
        fastest=tuple(_fastest(documents)),
        expected_errors={
            f"{case.chip} {case.runtime}": case.expected_error
            for document in documents
            for case in _inferences(document)
            if case.expected_error is not None
        },
        cases=tuple(_change(old, new) for old, new in pairs if old and new),
        only_before=_names(old for old, new in pairs if old and not new),
        only_after=_names(new for old, new in pairs if new and not old),
    )


def _pairs(
    old_cases: Sequence[Case], new_cases: Sequence[Case]
) -> Sequence[tuple[Case | None, Case | None]]:
    """Return the cases of two results that belong together, and those that one result lacks."""
    same_chips = _chips(old_cases) == _chips(new_cases)

    def key(case: Case) -> Hashable:
        if same_chips:
            return case.network, case.runtime, case.conditions.get("chip")
        return case.network, _ALIKE.get(case.runtime, case.runtime)

    pairs = _paired(old_cases, new_cases, key)
    return _with_singles(pairs, {old.network for old, new in pairs if same_chips and old and new})


_ALIKE = {"htp": "dsp"}
"""Runtimes that do the same on different chips: codes on the engine for networks."""


def _with_singles(
    pairs: Sequence[tuple[Case | None, Case | None]], done: Collection[str]
) -> list[tuple[Case | None, Case | None]]:
    """Also pair the cases of a network, unless it is done, of which each result has one left."""
    before, after = defaultdict[str, list[Case]](list), defaultdict[str, list[Case]](list)
    for old, new in pairs:
        if old and not new:
            before[old.network].append(old)
        elif new and not old:
            after[new.network].append(new)
    single = {
        network: (before[network][0], after[network][0])
        for network in (before.keys() & after.keys()).difference(done)
        if len(before[network]) == len(after[network]) == 1
    }
    singles = {id(case) for pair in single.values() for case in pair}
    others = [pair for pair in pairs if all(pair) or not singles & set(map(id, pair))]
    return [*others, *single.values()]


def _names(cases: Iterable[Case]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{case.network} on {case.place}" for case in cases))


def _fastest(documents: Iterable[Document]) -> Iterator[Fastest]:
    """Yield the fastest answers, network by network, where a result has several runtimes."""
    by, by_network = attrgetter("network"), defaultdict[str, list[list[Inference]]](list)
    for document in documents:
        for network, group in groupby(sorted(_inferences(document), key=by), by):
            by_network[network].append(list(group))
    for network, groups in by_network.items():
        if len(groups) > 1 and max(map(len, groups)) > 1:
            for first in (min(group, key=lambda case: case.rank) for group in groups):
                yield Fastest(
                    network=network,
                    chip=first.chip,
                    runtime=first.runtime,
                    total_us=first.total_inference_us,
                )


def _inferences(document: Document) -> Sequence[Inference]:
    stored = document.stored()
    return stored.results if isinstance(stored, Benchmark) else ()


def _cases(document: Document) -> list[Case]:
    stored = document.stored()
    if isinstance(stored, Benchmark):
        cases = [_of_inference(result) for result in stored.results]
    elif isinstance(stored, LanguageModel):
        cases = [_of_language_model(stored)]
    else:
        cases = [_declared(stored)]
    for case in cases:
        for amount in (*case.figures, *case.layers):
            if amount.unit != "dB" and (amount.value or 0.0) < 0:
                raise HexsimError(
                    f"{amount.name} of {case.network} on {case.runtime} is {amount.value:g} "
                    f"{amount.unit}; expected 0 or more; {_REMEDY}"
                )
    return cases


def _of_inference(case: Inference) -> Case:
    conditions = {name: getattr(case, name) for name in ("chip", "stack", "perf_profile", "buffer")}
    conditions["ideal_cpu"] = "yes" if case.ideal_cpu else "no"
    conditions["anchor"] = case.anchor or "none"
    conditions["vtcm_mb"] = _vtcm(case.vtcm_mb)
    figures = (
        Amount("total inference", "us", case.total_inference_us),
        Amount("forward propagate", "us", case.forward_propagate_us),
        Amount("initialisation", "us", case.initialisation_total_us),
        Amount("peak memory", "B", case.memory.peak_bytes),
        Amount("energy", "mJ", case.energy.mj),
        *_sqnr(case.accuracy),
    )
    layers = tuple(Amount(layer.name, "us", layer.us) for layer in case.layers)
    return Case(case.network, case.runtime, conditions, figures, layers)


def _sqnr(accuracy: Accuracy | None) -> tuple[Amount, ...]:
    """Return the SQNR, of several outputs also each.

    It has a name of its own if it is against rounded weights.
    """
    if accuracy is None:
        return (Amount("SQNR", "dB", None),)
    is_float = accuracy.sqnr_reference == "float network"
    name = "SQNR" if is_float else f"SQNR against {accuracy.sqnr_reference}"
    several = accuracy.outputs if len(accuracy.outputs) > 1 else ()
    each = (Amount(f"{name} of '{out.tensor}'", "dB", out.sqnr_db) for out in several)
    return (Amount(name, "dB", accuracy.sqnr_db), *each)


def _of_language_model(model: LanguageModel) -> Case:
    """Return a case whose layers are the parts of both passes' time."""
    setup, passes = model.conditions, {"token": model.token, "block": model.block}
    conditions = {"chip": model.chip, "stack": model.stack, "vtcm_mb": _vtcm(model.vtcm_mb)}
    conditions |= {"weights": f"w{setup.widths.weights}", "head": f"w{setup.widths.head_bits}"}
    conditions["activations"] = setup.widths.activations
    for name in ("context", "prompt", "generate", "block", "part_gb"):
        conditions[name] = f"{getattr(setup, name):g}"
    figures = (
        Amount("time of a token", "us", 1e3 * model.token.ms),
        Amount("time of a block", "us", 1e3 * model.block.ms),
        Amount("tokens per second", "1/s", model.tokens_per_second),
        Amount("first token", "ms", model.first_token_ms.get(setup.prompt)),
        Amount("whole answer", "us", 1e3 * model.total_ms),
        Amount("peak memory", "B", model.memory_bytes.peak),
        *(Amount(f"DDR per {name}", "B", made.ddr_bytes) for name, made in passes.items()),
        *(Amount(f"energy per {name}", "mJ", made.energy.mj) for name, made in passes.items()),
    )
    parts = tuple(
        Amount(f"{name}: {part}", "us", 1e3 * ms)
        for name, made in passes.items()
        for part, ms in made.parts_ms.items()
    )
    return Case(model.architecture.name, setup.widths.runtime, conditions, figures, parts)


def _declared(document: Document) -> Case:
    """Return the numbers with units that a document declares; its rows are the layers."""
    texts = {
        field.key: field.text(value)
        for field in fields(type(document)).values()
        if field.stored and isinstance(value := getattr(document, field.name), str | bool)
    }
    command = document.WRITTEN_BY.removeprefix("hexsim ")
    network = texts.pop("network", command)
    runtime = texts.pop("runtime", texts.get("chip", command))
    layers = (
        _amounts(row, f"{getattr(row, 'layer', getattr(row, 'name', at))}: ")
        for at, row in enumerate(document.rows)
    )
    return Case(network, runtime, texts, (*_amounts(document),), (*chain.from_iterable(layers),))


def _amounts(part: Part, prefix: str = "") -> Iterator[Amount]:
    for field in fields(type(part)).values():
        value = getattr(part, field.name) if field.stored else None
        key = field.key.removesuffix(f"_{field.unit.lower()}").replace("_", " ")
        name = f"{prefix}{field.label or key}"
        if isinstance(value, Part):
            yield from _amounts(value, f"{name}: ")
        elif isinstance(value, Mapping) and field.unit:
            yield from (Amount(f"{name}: {key}", field.unit, item) for key, item in value.items())
        elif isinstance(value, int | float) and field.unit:
            yield Amount(name, field.unit, value)


def _vtcm(megabytes: float | None) -> str:
    return "all" if megabytes is None else f"{megabytes:g}"


def _chips(cases: Sequence[Case]) -> set[str | None]:
    return {case.conditions.get("chip") for case in cases}


def _change(before: Case, after: Case) -> CaseChange:
    conditions = (
        ConditionChange(name=name, before=text, after=after.conditions.get(name, "-"))
        for name, text in before.conditions.items()
        if name != "chip"
    )
    return CaseChange(
        network=before.network,
        place=" -> ".join(dict.fromkeys((before.place, after.place))),
        conditions=tuple(each for each in conditions if each.before != each.after),
        figures=_changes(before.figures, after.figures),
        layers=_changes(before.layers, after.layers),
    )


def _changes(before: Sequence[Amount], after: Sequence[Amount]) -> tuple[FigureChange, ...]:
    return tuple(
        FigureChange(
            name=amount.name,
            unit=amount.unit,
            before=old.value if old else None,
            after=new.value if new else None,
            ratio=_ratio(old, new),
        )
        for old, new in _paired(before, after, lambda figure: figure.name)
        if (amount := old or new) is not None
    )


def _ratio(before: Amount | None, after: Amount | None) -> float | None:
    if not before or not after or not before.value or after.value is None:
        return None
    return after.value / before.value


def _paired(
    before: Sequence[Item], after: Iterable[Item], key: Callable[[Item], Hashable]
) -> list[tuple[Item | None, Item | None]]:
    """Return pairs of equal keys in the order of `before`, then the items only in `after`."""
    waiting: dict[Hashable, list[Item]] = defaultdict(list)
    for item in after:
        waiting[key(item)].append(item)
    pairs: list[tuple[Item | None, Item | None]] = []
    for item in before:
        candidates = waiting[key(item)]
        pairs.append((item, candidates.pop(0) if candidates else None))
    unpaired = [item for items in waiting.values() for item in items]
    return [*pairs, *((None, item) for item in unpaired)]
