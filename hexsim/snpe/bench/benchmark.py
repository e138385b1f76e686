"""A benchmark that is ready to run: it deploys every flavour, and runs and writes each run.

All runs are simulated alike, unless draws are requested: then the n-th run has the n-th draw of all
doubtful constants (`hexsim.studies.uncertainty`).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.cli._inputs import remark_unsuitable
from hexsim.cli._say import report_progress
from hexsim.cli._stopping import keeping
from hexsim.errors import HexsimError
from hexsim.snpe.bench import files, folder
from hexsim.snpe.bench.config import BenchSettings, Config, as_found
from hexsim.snpe.bench.config import place as placed
from hexsim.snpe.bench.flavours import Flavour, flavours
from hexsim.snpe.bench.values import Values
from hexsim.snpe.buffers import Buffers
from hexsim.snpe.diag_log import described

if TYPE_CHECKING:
    from hexsim.accuracy.classes import Classes
    from hexsim.deployment.platform import Platform
    from hexsim.inputs.source import InputSource
    from hexsim.snpe.bench.files import BenchmarkResults, Column
    from hexsim.snpe.diag_log import DiagRun


class Bench:
    """A config with everything that is needed to run it.

    Answers in float are those of the `float_model`, if there is one; `label_file` has the right
    classes of each input. Raises HexsimError, before anything is written, if a part cannot run.
    """

    def __init__(
        self,
        config: Config,
        settings: BenchSettings,
        platform: Platform,
        float_model: Path | None = None,
        label_file: Path | None = None,
    ) -> None:
        from hexsim.accuracy.classes import read_labels
        from hexsim.accuracy.input_ranges import InputRanges
        from hexsim.accuracy.reference import with_reference
        from hexsim.deployment.at_load import is_coded
        from hexsim.deployment.source_model import Preparation, SourceModel
        from hexsim.dlc.loading import load, load_container
        from hexsim.inputs.source import listed

        self.config, self.settings, self.platform = config, settings, platform
        self.float_model, self.label_file = float_model, label_file
        named = flavours(config.runtimes, settings.buffers)
        read = load_container(str(config.dlc))
        quantized = is_coded(read.model, platform)
        self.flavours = [flavour.on(platform, quantized=quantized) for flavour in named]
        self.network = self.in_float = read.model.network
        if float_model is not None:
            self.in_float = with_reference(read.model, load(float_model).network).network
        self.source: InputSource | None = None  # random inputs, which are never read
        self.labels: Sequence[Classes] | None = None
        if config.input_list is not None:
            find_file = partial(placed, data=config.data)
            source = self.source = listed(config.input_list, self.network, place=find_file)
            if label_file is not None:
                self.labels = read_labels(
                    label_file, source.items, self.network, batch=source.batch
                )
        elif label_file is not None:
            raise HexsimError("--labels are for inputs of Model:InputList; RandomInput has none")
        preparation = Preparation(cpu_fallback=config.cpu_fallback)
        loaded = SourceModel(str(config.dlc), read, platform, preparation)
        self.deployments = {each.runtime: loaded.deployment(each.runtime) for each in self.flavours}
        if self.source is not None:
            remark_unsuitable(self.source, InputRanges.of(read.model))
            for runtime, deployment in self.deployments.items():
                self.deployments[runtime] = deployment.run_on(self.source.feeds)
        for flavour in self.flavours:
            _buffers(flavour).inputs(self.deployments[flavour.runtime])
            _buffers(flavour).timed(self.deployments[flavour.runtime])

    def run(self, base: Path, write: Callable[[BenchmarkResults], Mapping[str, str]]) -> Path:
        """Run all runs that are not finished below `base`, and write the files of the results.

        `write` makes their texts by name. The first file is written last, as the mark of a finished
        benchmark, and its path is returned.
        """
        from hexsim.files.atomic_write import write_text

        name = f"benchmark_stats_{self.config.name}.csv"
        place, resumed = folder.results_folder(base / self.config.results, self._identity(), name)
        report_progress(f"{'Going on' if resumed else 'Running'} in {place}")
        with keeping(f"runs that are done are kept in '{place}'"):
            results = self._results(place, self._input_list(place))
        files = write(results)
        for file in reversed(list(files)):
            write_text(place / file, files[file])
        return place / next(iter(files))

    def _identity(self) -> dict[str, object]:
        """Return everything that distinguishes this benchmark from others."""
        config, source = self.config, self.source
        raws = [Path(file) for files in source.files for file in files] if source else []
        files = (config.dlc, self.float_model, self.label_file, config.input_list)
        named = [file for file in files if file]
        constants = "".join(map(repr, (self.platform.chip, self.platform.stack)))
        return {
            "hexsim": __version__,
            "config": folder.digest(config.text),
            "settings": repr(self.settings),
            "chip": self.platform.chip.name,
            "stack": self.platform.stack.name,
            "constants": folder.digest(constants),
            "files": folder.digests([*named, *raws]),
        }

    def _input_list(self, place: Path) -> Path | None:
        """Return an input list to repeat a run with: the config's, or one with readable paths."""
        from hexsim.files.atomic_write import write_text

        listed, data = self.config.input_list, self.config.data
        if listed is None:
            return None
        text = listed.read_text("utf-8-sig")
        if as_found(text, data) == as_found(text, ()):
            return listed
        write_text(place / "input_list.txt", as_found(text, data))
        return place / "input_list.txt"

    def _results(self, place: Path, input_list: Path | None) -> BenchmarkResults:
        from hexsim.dlc.loading import is_builtin
        from hexsim.snpe.bench.files import BenchmarkResults

        config, settings, network = self.config, self.settings, self.network
        values = None if self.source is None else Values(self.in_float, self.source, self.labels)
        columns = [
            self._timing(place / measurement / flavour.name, flavour, values, input_list)
            if measurement == "timing"
            else self._memory(place / measurement / flavour.name, flavour)
            for measurement in config.measurements
            for flavour in self.flavours
        ]
        layers = [(name, "data") for name in network.inputs]
        layers += [(layer.name, layer.type) for layer in network.layers]
        names = [flavour.name for flavour in self.flavours]
        return BenchmarkResults(
            files.version(self.platform),
            files.configuration(config, settings, network, names, place.name),
            files.device(self.platform),
            columns,
            layers,
            settings.sleep_s,
            made_up=is_builtin(str(config.dlc)),
        )

    def _timing(
        self, place: Path, flavour: Flavour, values: Values | None, input_list: Path | None
    ) -> Column:
        from hexsim.snpe.bench.files import Column
        from hexsim.studies.uncertainty import draws

        settings, count = self.settings, self.config.runs
        deployment = self.deployments[flavour.runtime]
        items = self.config.random_inputs if self.source is None else self.source.items
        run = described(deployment, settings.perf_profile, settings.profiling_level, items)
        platforms = draws(self.platform, count) if settings.draws else (self.platform,) * count
        rows_of_runs = []
        for number, platform in enumerate(platforms, 1):
            run_folder = place / f"Run{number}"
            rows = folder.finished_run(run_folder, run)
            if rows is None:
                script = self._script(run_folder, flavour, run, input_list)
                buffer = _buffers(flavour).timed(deployment)
                rows = folder.new_run(run_folder, deployment.on(platform), run, buffer, script)
                took = [f": {row.us} us" for row in rows if row.name == "Total Inference Time"]
                report_progress(f"{flavour.name}, run {number} of {count}{''.join(took)}")
            rows_of_runs.append(tuple(rows))
        answers = None if values is None else values.of(place, deployment, flavour.user_buffer)
        return Column(flavour.name, "timing", tuple(rows_of_runs), answers)

    def _script(self, at: Path, flavour: Flavour, run: DiagRun, input_list: Path | None) -> str:
        """Return the commands that repeat a run; they cannot set constants that were drawn."""
        config = self.config
        words = [
            f"HEXSIM_CHIP={self.platform.chip.name} HEXSIM_STACK={self.platform.stack.name}",
            f"snpe-net-run --container {shlex.quote(str(config.dlc))}",
            f"--input_list {shlex.quote(str(input_list or 'made-up-inputs.txt'))}",
            f"--output_dir {shlex.quote(str(at / 'output'))}",
            flavour.flags(float_outputs=config.float_outputs),
            "--enable_cpu_fallback" if config.cpu_fallback else "",
            f"--perf_profile {run.perf_profile} --profiling_level {run.profiling_level}",
        ]
        here = shlex.quote(str(Path.cwd()))
        return f"#!/bin/sh\ncd {here}\n{' '.join(filter(None, words))}\n"

    def _memory(self, place: Path, flavour: Flavour) -> Column:
        from hexsim.snpe.bench.files import Column

        deployment = self.deployments[flavour.runtime]
        peak_bytes = deployment.memory(_buffers(flavour).timed(deployment)).peak_bytes
        peak_kb = -(-peak_bytes // 1024)
        for number in range(1, self.config.runs + 1):
            folder.memory_run(place / f"Run{number}", peak_kb)
        return Column(flavour.name, "mem", ((),) * self.config.runs, peak_kb=peak_kb)


def _buffers(flavour: Flavour) -> Buffers:
    """Return the buffers of snpe-net-run for a flavour."""
    return Buffers(input_buffers=flavour.user_buffer or None)
