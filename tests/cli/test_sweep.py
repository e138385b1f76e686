"""`hexsim sweep`: equal files whoever simulates, and a sweep that is killed goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import onnx
import pytest

import hexsim
from hexsim import __version__, dlc, simulate
from hexsim.datasheets import chips
from hexsim.datasheets.areas import area_of
from hexsim.quantization.model import Model
from hexsim.reports.studies import sweep_summary
from hexsim.results.costs import TimeError
from hexsim.results.sweep import Sweep
from hexsim.studies.cluster import Cluster
from hexsim.studies.pool import Pool
from hexsim.studies.processes import processes
from hexsim.studies.sweep.space import read_space
from hexsim.studies.sweep.table import FORMAT, read
from hexsim.texts.figures import given
from tests.cli.conftest import Done
from tests.dlc.made import small_network
from tests.hearing import hearing
from tests.imports import CHECKOUT
from tests.reports.pages.conftest import data_of

SPACE = """
networks = ["m.dlc"]
chips = ["sd835", "sd855"]
draws = 20
[constants."dsp.hvx.contexts"]
values = [1, 2]
[constants."memory.efficiency"]
drawn = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model_and_space(tmp_path)


@pytest.fixture(scope="module")
def complete_sweep(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of the complete sweep, written by one worker."""
    return swept(write_model_and_space(tmp_path_factory.mktemp("complete")), "--workers", "1")


@pytest.fixture
def swept_folder(folder: Path, complete_sweep: bytes) -> Path:
    """The folder with the complete sweep in it."""
    (folder / "space.parquet").write_bytes(complete_sweep)
    return folder


def write_model_and_space(folder: Path) -> Path:
    dlc.write(folder / "m.dlc", Model(small_network()))
    (folder / "space.toml").write_text(SPACE)
    return folder


def started(folder: Path, *words: str, out: str | None = None) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    with open(out, "wb") if out else nullcontext(subprocess.PIPE) as stdout:
        return subprocess.Popen(
            [sys.executable, "-m", "hexsim", "sweep", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=stdout,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


@contextmanager
def cluster_of_ones_own() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address of a scheduler in a process of its own, and the process."""
    program = (
        "from distributed import LocalCluster\n"
        "cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, protocol='tcp',"
        " host='127.0.0.1', dashboard_address=None)\n"
        "print(cluster.scheduler_address, flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=CHECKOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
        process.kill()


def swept(folder: Path, *words: str) -> bytes:
    with started(folder, "space.toml", *words) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b""), err.decode()
    assert b"80 points in" in out
    assert not list(folder.glob("*.parts"))
    return (folder / "space.parquet").read_bytes()


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_file(folder: Path, complete_sweep: bytes) -> None:
    """Two do as one; that as many as there are cores do is seen where a sweep goes on."""
    assert swept(folder, "--workers", "2") == complete_sweep
    table = read(folder / "space.parquet").table
    assert table["point"].to_pylist() == list(range(80))
    assert not any(table["refusal"].to_pylist())


@pytest.mark.slow
def test_a_killed_sweep_goes_on_where_it_was(folder: Path, complete_sweep: bytes) -> None:
    with started(folder, "space.toml", "--workers", "1") as process:
        parts = folder / "space.parquet.parts"
        while process.poll() is None and not list(parts.glob("*.parquet")):
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    done = {part: part.stat().st_mtime_ns for part in parts.glob("*.parquet")}
    assert process.returncode == -signal.SIGKILL
    assert 0 < len(done) < 3
    kept = {part.name: part.read_bytes() for part in done}
    assert swept(folder) == complete_sweep
    assert kept


@contextmanager
def own_processes() -> Iterator[tuple[Pool, Callable[[], int]]]:
    """Workers of this machine, and what tells the number of one of their processes."""
    with processes(2) as pool:
        yield pool, lambda: pool.pids[0]


@contextmanager
def processes_of_dask() -> Iterator[tuple[Pool, Callable[[], int]]]:
    """The same of a cluster."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Cluster(client), lambda: next(iter(client.run(os.getpid).values()))


@pytest.mark.slow
@pytest.mark.parametrize("who", [own_processes, processes_of_dask])
def test_a_killed_worker_loses_nothing(
    folder: Path,
    complete_sweep: bytes,
    who: Callable[[], AbstractContextManager[tuple[Pool, Callable[[], int]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hexsim.studies.sweep.points import Points
    from hexsim.studies.sweep.settings import settings
    from hexsim.studies.sweep.space import read_space
    from hexsim.studies.sweep.table import SweepParts, simulate_parts

    monkeypatch.chdir(folder)
    space = read_space(folder / "space.toml")
    points = Points(space, settings(space))
    parts = SweepParts(folder / "other.parts", points)
    parts.open()
    with who() as (pool, pid):
        killed = []

        def kill_one(done: int) -> None:
            if not killed:
                killed.append(pid())
                os.kill(killed[0], signal.SIGKILL)

        with hearing() as heard:
            heard.done = kill_one
            simulate_parts(pool, parts)
    assert killed
    assert parts.whole() == complete_sweep


@pytest.mark.slow
@pytest.mark.usefixtures("swept_folder")
def test_the_answer_is_read(command: Callable[[str], Done]) -> None:
    done = command("sweep show space.parquet --pareto latency,initialisation --json a.json")
    assert done.code == 0
    answer = json.loads(Path("a.json").read_text())
    table = read(Path("space.parquet")).table
    least = min(table["latency_ms"].to_pylist())
    assert answer["front"][0]["latency_ms"] == least
    assert answer["hexsim_version"] == __version__
    assert given(least) in done.out
    (first, *_), parts = answer["effects"], answer["effects"][0]["alone"]
    assert first["figure"] == "latency_ms"
    assert set(parts) == {"chip", "stack", "dsp.hvx.contexts", "memory.efficiency"}
    for name, part in parts.items():
        assert f"{part:.0%}" in next(li for li in done.out.splitlines() if li.startswith(name))


@pytest.mark.parametrize(
    "option",
    [pytest.param(True, marks=pytest.mark.slow, id="option"), pytest.param(False, id="key")],
)
def test_an_anchor_is_swept_and_reported(command: Callable[[str], Done], option: bool) -> None:
    text = 'networks = ["resnet18_hub"]\nchips = ["sd8gen2"]\nruntimes = ["htp_fp16"]\n'
    anchor = "resnet18_hub@htp_fp16=0.50"
    Path("s.toml").write_text(text if option else f'{text}anchor = "{anchor}"\n')
    assert command(f"sweep s.toml --workers 1 {f'--anchor {anchor}' if option else ''}").code == 0
    listing = command("sweep show s.parquet --json s.json")
    assert f"calibrated with anchor {anchor} (itself off by up to 23%)" in listing.out
    document = json.loads(Path("s.json").read_text())
    assert document["anchor"] == document["space"]["anchor"] == anchor
    assert document["anchor_error"]["causes"]["rounding"]["value"] == 0.01
    (point,) = document["front"]
    assert point["latency_ms"] == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize(
    ("chips", "anchor", "sentence"),
    [
        ('"sd8gen2"', "resnet18_hub", "--anchor takes NETWORK=MS"),
        ('"sd8gen2", "sd8gen3"', "resnet18_hub=0.5", "give the chip of that phone alone"),
        ('"sd855"', "resnet18_hub=0.5", "chip sd855 has none"),
    ],
)
def test_an_anchor_that_does_not_fit_is_refused(
    refused: Callable[[str], str], tmp_path: Path, chips: str, anchor: str, sentence: str
) -> None:
    (tmp_path / "s.toml").write_text(f'networks = ["resnet18_hub"]\nchips = [{chips}]\n')
    assert sentence in refused(f"sweep s.toml --anchor {anchor}")


@pytest.mark.parametrize("option", ["", pytest.param("--vtcm 0.25", marks=pytest.mark.slow)])
def test_a_part_of_vtcm_is_swept_and_reported(
    option: str, command: Callable[[str], Done], onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    """Each size gives the time that simulate gives; no size makes the chip smaller."""
    weights = np.full((512, 512, 1, 1), 0.01, np.float32)
    nodes = [onnx.helper.make_node("Conv", [x, "w"], [y]) for x, y in (("x", "t"), ("t", "y"))]
    onnx.save(onnx_model(nodes, {"x": (1, 512, 8, 8)}, ["y"], {"w": weights}), "m.onnx")
    text = 'networks = ["m.onnx"]\nchips = ["sd8gen2"]\nruntimes = ["htp_fp16"]\n'
    Path("s.toml").write_text(f"{text}vtcm_mb = [8, 0.25]")
    assert command(f"sweep s.toml --workers 1 {option}").code == 0
    rows = read(Path("s.parquet")).table.to_pylist()
    sizes = [0.25] if option else [8, 0.25]
    assert [row["vtcm_mb"] for row in rows] == sizes
    for row in rows:
        timing = simulate("m.onnx", "sd8gen2", "htp_fp16", vtcm_mb=row["vtcm_mb"])
        assert row["latency_ms"] * 1e3 == pytest.approx(timing.total_us, rel=1e-12)
    assert len({row["latency_ms"] for row in rows}) == len(sizes)
    assert {row["area_mm2"] for row in rows} == {area_of(chips.load("sd8gen2")).value}
    sentence = "VTCM of a graph: 0.25 MB" if option else "VTCM of a graph: 8 or 0.25 MB"
    assert sentence in command("sweep show s.parquet").out


@pytest.mark.parametrize(
    ("chip", "more", "sentence"),
    [
        ("sd855", "--vtcm 1", "sd855 has no tensor processor; --vtcm"),
        ("sd8gen2", "--vtcm 16", "16 MB of VTCM for a graph: sd8gen2 has 8 MB in all"),
        ("sd8gen2", "", "key 'vtcm_mb.0' is 0"),
    ],
)
def test_vtcm_that_a_chip_has_not_is_refused(
    refused: Callable[[str], str], chip: str, more: str, sentence: str
) -> None:
    stated = "" if more else "vtcm_mb = [0]\n"
    Path("s.toml").write_text(f'networks = ["resnet18_hub"]\nchips = ["{chip}"]\n{stated}')
    assert sentence in refused(f"sweep s.toml {more}")


@pytest.mark.usefixtures("swept_folder")
def test_the_page_has_the_front_of_energy_and_area(command: Callable[[str], Done]) -> None:
    pareto = "--pareto latency,energy,energy_mj,area"
    line = f"sweep show space.parquet {pareto} --json a.json --html page.html"
    assert command(line).code == 0
    answer = json.loads(Path("a.json").read_text())
    assert answer["figures"] == ["latency_ms", "energy_mj", "area_mm2"]
    points, lines, *matters = data_of(Path("page.html").read_text())["figures"]
    assert [row[0] for row in points["table"]["rows"]] == [
        choice["point"] for choice in answer["front"]
    ]
    assert [row[0] for row in lines["table"]["rows"]] == [*answer["varied"], *answer["figures"]]
    assert [matter["title"] for matter in matters] == [
        f"What matters to {name}" for name in answer["figures"]
    ]


@pytest.mark.usefixtures("swept_folder")
def test_bad_questions_are_reported_in_a_sentence(refused: Callable[[str], str]) -> None:
    said = {
        "--best latency": "is no condition",
        "--best ''": "is no condition",
        "--best 'latnecy < 5'": "unknown figure 'latnecy'",
        "--best 'latency_ms < 0'": "no point of",
        "--best 'network < 5'": "unknown figure 'network'",
        "--best 'latency_ms < five'": "is no condition",
        "--pareto latency,,": "unknown figure ''",
        "--pareto ''": "unknown figure ''",
    }
    for question, sentence in said.items():
        assert sentence in refused(f"sweep show space.parquet {question}"), question


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sweep gone.toml", "gone.toml"),
        ("sweep space.toml --scheduler tcp://127.0.0.1:9", "no scheduler answers"),
        ("sweep space.toml --scheduler nowhere", "no scheduler answers"),
        ("sweep space.toml --workers 1 --scheduler tcp://127.0.0.1:9", "leave it out"),
        ("sweep big.toml", "has 1000000000 points"),
        ("sweep show space.toml", "is no Parquet file"),
        ("sweep show gone.parquet", "cannot read 'gone.parquet': No such file"),
    ],
)
def test_bad_input(
    folder: Path,
    refused: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    said: str,
) -> None:
    monkeypatch.setattr("hexsim.studies.cluster._PATIENCE_S", 0.5)
    (folder / "big.toml").write_text(
        'networks = ["m.dlc"]\nchips = ["sd855"]\ndraws = 1000000000\n'
        '[constants."memory.efficiency"]\ndrawn = true\n'
    )
    assert said in refused(line)


def test_parts_of_another_sweep_are_left_alone(folder: Path, refused: Callable[[str], str]) -> None:
    (folder / "space.parquet.parts").mkdir()
    (folder / "space.parquet.parts" / "mine").write_text("mine")
    assert "holds the parts of another sweep" in refused("sweep space.toml")
    assert (folder / "space.parquet.parts" / "mine").read_text() == "mine"


def test_another_format_is_reported(swept_folder: Path, refused: Callable[[str], str]) -> None:
    from pyarrow import parquet

    table = read(swept_folder / "space.parquet").table
    for name, header, said in (
        ("new", {"format": 9, "version": "7.0"}, "format 9 of hexsim 7.0"),
        ("other", {}, "is no sweep's answer"),
        ("less", {"format": FORMAT, "version": "7.0"}, "has lost the description of its space"),
    ):
        metadata = {b"hexsim": json.dumps(header).encode()}
        parquet.write_table(
            table.replace_schema_metadata(metadata), swept_folder / f"{name}.parquet"
        )
        assert said in refused(f"sweep show {name}.parquet")


def test_an_answer_that_another_program_has_cut_is_reported(
    swept_folder: Path, refused: Callable[[str], str]
) -> None:
    import pyarrow
    from pyarrow import parquet

    table = read(swept_folder / "space.parquet").table
    texts = table["latency_ms"].cast("string")
    at = table.schema.get_field_index("latency_ms")
    nulls = pyarrow.nulls(table.num_rows, "string")
    for name, changed, said in (
        ("less", table.drop_columns(["network"]), "column 'network' of"),
        ("constant", table.drop_columns(["memory.efficiency"]), "column 'memory.efficiency' of"),
        ("texts", table.set_column(at, "latency_ms", texts), "column 'latency_ms' of"),
        (
            "nulls",
            table.drop_columns(["outside_bounds"]).append_column("outside_bounds", nulls),
            "column 'outside_bounds' of",
        ),
        ("none", table.slice(0, 0), "has no points"),
    ):
        parquet.write_table(changed, swept_folder / f"{name}.parquet")
        assert said in refused(f"sweep show {name}.parquet --pareto energy")


@pytest.mark.slow
def test_an_answer_that_cannot_be_announced_is_not_lost(folder: Path) -> None:
    with started(folder, "space.toml", "--workers", "1", out="/dev/full") as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.startswith(b"hexsim: cannot print")
    assert read(folder / "space.parquet").table.num_rows == 80
    assert not list(folder.glob("*.parts"))


def test_the_answer_tells_its_space(swept_folder: Path) -> None:
    assert read(swept_folder / "space.parquet").space == read_space(swept_folder / "space.toml")


def test_points_that_are_all_refused_say_why(
    folder: Path, command: Callable[[str], Done], refused: Callable[[str], str]
) -> None:
    (folder / "bad.toml").write_text(
        'networks = ["m.dlc"]\nchips = ["sd855"]\n[constants."dsp.hvx.contexts"]\nvalues = [-1]\n'
    )
    assert command("sweep bad.toml --workers 1").code == 0
    said = refused("sweep show bad.parquet")
    assert "all points of 'bad.parquet' were refused, the first because" in said
    assert "dsp.hvx.contexts" in said


@pytest.mark.slow
def test_workers_of_a_scheduler_give_the_same_file(folder: Path, complete_sweep: bytes) -> None:
    with cluster_of_ones_own() as (address, _):
        assert swept(folder, "--scheduler", address) == complete_sweep


@pytest.mark.parametrize(
    "scheduler",
    [pytest.param(False, id="own"), pytest.param(True, marks=pytest.mark.slow, id="scheduler")],
)
def test_ctrl_c_says_one_sentence_and_keeps_what_is_done(folder: Path, scheduler: bool) -> None:
    (folder / "long.toml").write_text(SPACE.replace("draws = 20", "draws = 20000"))
    with cluster_of_ones_own() if scheduler else nullcontext(("", None)) as (address, _):
        words = ["--scheduler", address] if scheduler else ["--workers", "2"]
        with started(folder, "long.toml", *words) as process:
            parts = folder / "long.parquet.parts"
            while process.poll() is None and not list(parts.glob("*.parquet")):
                time.sleep(0.005)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"hexsim: interrupted; points that are done are kept in ")
    assert err.count(b"\n") == 1
    assert list(parts.glob("*.parquet"))


@pytest.mark.slow
def test_a_scheduler_that_dies_is_a_sentence_and_loses_nothing(folder: Path) -> None:
    (folder / "long.toml").write_text(SPACE.replace("draws = 20", "draws = 20000"))
    with (
        cluster_of_ones_own() as (address, cluster),
        started(folder, "long.toml", "--scheduler", address) as process,
    ):
        parts = folder / "long.parquet.parts"
        while process.poll() is None and not list(parts.glob("*.parquet")):
            time.sleep(0.005)
        cluster.kill()
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, b"")
    assert err.startswith(b"hexsim: the scheduler has gone; ")
    assert err.count(b"\n") == 1
    kept = list(parts.glob("*.parquet"))
    assert kept
    assert all(read(part).table.num_rows == 32 for part in kept)


@pytest.mark.parametrize(
    "held", [b"[" * 100_000 + b"]" * 100_000, b"{}" * 9, b"\xff", b"[" + b"{}," * 3_000_000 + b"1]"]
)
def test_metadata_that_others_have_written(
    folder: Path, refused: Callable[[str], str], held: bytes
) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"point": [1]}).replace_schema_metadata({b"hexsim": held})
    parquet.write_table(table, folder / "deep.parquet")
    assert "is no sweep's answer: its metadata" in refused("sweep show deep.parquet")


def test_python_gives_the_figures_of_the_command(
    folder: Path, complete_sweep: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the space, from its file, and from an earlier answer; read back it says the same."""
    monkeypatch.chdir(folder)
    results = folder / "python.parquet"
    first = hexsim.sweep(folder / "space.toml", output=results, workers=1)
    assert results.read_bytes() == complete_sweep
    again = hexsim.sweep(results, pareto="latency")
    assert again.to_json() == first.to_json()
    others = hexsim.sweep(first, pareto=["latency", "energy"])
    assert others.figures == ("latency_ms", "energy_mj")
    assert Sweep.from_json(others.to_json()).to_json() == others.to_json()
    assert str(Sweep.from_json(others.to_json())) == str(others)
    assert others._repr_html_().count("<tr>") == 1 + len(others.front)
    with pytest.raises(hexsim.HexsimError, match="read from JSON has no points"):
        hexsim.sweep(Sweep.from_json(others.to_json()))


def test_how_far_such_times_have_been_from_measured_ones_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    asked = {"networks": ["m.dlc"], "chips": ["sd855"], "runtimes": ["dsp"]}
    swept = hexsim.sweep(asked, workers=1)
    error = TimeError.of("sd855", "snpe-1.30", "dsp")
    assert error is not None
    assert swept.expected_errors == {"sd855 dsp": error}
    assert f"sd855 dsp {error.median:.0%}" in sweep_summary(swept)
    varied = asked | {"constants": {"dsp.hvx.contexts": {"values": [1, 2]}}}
    assert hexsim.sweep(varied, workers=1).expected_errors == {}, "that is no phone's"
