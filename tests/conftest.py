"""What many tests share: real data, small ONNX models, and the comparison with onnxruntime."""

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from hypothesis import settings
from onnx import helper, numpy_helper

from hexsim.graph.ir import Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.onnx_io.runtime import load_onnxruntime
from hexsim.passes import optimize
from tests.oracle.toolchain import missing_tools
from tests.thorough import examples

os.environ.pop("COLUMNS", None)  # reports are whole in tests, whatever window they run in
onnxruntime = load_onnxruntime()  # before any test loads it: tests call nobody either

# Examples are the same in every run, so that a red build is red for everybody; and no example has
# a deadline, since machines are slow at their own times.
settings.register_profile("hexsim", examples(100), deadline=None, derandomize=True)
settings.load_profile("hexsim")

Arrays = dict[str, npt.NDArray[np.generic]]


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: thousands are made, and all are kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on, collecting garbage looks at what tests make, not at the tests and modules."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def toolchain(request: pytest.FixtureRequest) -> None:
    """Tests of the toolchain's judgement are skipped where it is missing, but never in CI."""
    if request.node.get_closest_marker("toolchain") and (missing := missing_tools()):
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        stop(f"{', '.join(missing)} missing; install clang-19, lld-19, llvm-19 and qemu-user")


@pytest.fixture(autouse=True)
def working_folder() -> Iterator[None]:
    """A test that leaves the process in another folder fails, not one that comes after it."""
    before = Path.cwd()
    yield
    after = Path.cwd()
    os.chdir(before)
    assert after == before, f"the test left the process in {after}"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real trained models; tests that need it are skipped where it is absent.

    In CI they fail where the data are announced, by HEXSIM_REAL_DATA or by the folder that holds
    them, and absent.
    """
    shared = Path(__file__).resolve().parents[2] / "shared"
    announced = "HEXSIM_REAL_DATA" in os.environ or shared.is_dir()
    folder = Path(os.environ.get("HEXSIM_REAL_DATA", shared / "data" / "real"))
    if not folder.is_dir():
        stop = pytest.fail if announced and os.environ.get("CI") == "true" else pytest.skip
        stop(f"no real data in {folder}; set HEXSIM_REAL_DATA")
    return folder


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Sequence[str],
    weights: Mapping[str, npt.ArrayLike] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """A float model; lists of ints become int64 weights, everything else float32."""
    initializers = []
    for name, value in (weights or {}).items():
        array = np.asarray(value)
        dtype = np.float32 if array.dtype.kind == "f" else array.dtype
        initializers.append(numpy_helper.from_array(array.astype(dtype), name))
    float_type = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(n, float_type, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, float_type, None) for n in outputs],
        initializers,
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@dataclass(frozen=True)
class Agreement:
    """A model read, and optimised; largest error of each relative to the range of the outputs."""

    read: Network
    optimized: Network
    error_read: float
    error_optimized: float


def compare(model: onnx.ModelProto, seed: int = 0, passes: bool = True) -> Agreement:
    """Read and optimise `model` and run all three on the same random inputs."""
    network = read(model)
    network.check()
    optimized = optimize(network) if passes else network
    optimized.check()
    assert optimized.inputs == network.inputs
    assert optimized.outputs == network.outputs
    rng = np.random.default_rng(seed)
    source = {
        name: rng.standard_normal(network.tensors[name].source_shape).astype(np.float32)
        for name in network.inputs
    }
    expected = run_onnx(model, source)
    errors = [_error(candidate, source, expected) for candidate in (network, optimized)]
    return Agreement(network, optimized, *errors)


def run_onnx(model: onnx.ModelProto, inputs: Arrays) -> Arrays:
    """What onnxruntime makes of the model itself."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in model.graph.output]
    return dict(zip(names, session.run(names, inputs), strict=True))


def _error(network: Network, source: Arrays, expected: Arrays) -> float:
    tensors = network.tensors
    stored = {name: tensors[name].from_source(array) for name, array in source.items()}
    results = FloatEngine(network).run(stored)  # type: ignore[arg-type]
    worst = 0.0
    for name, want in expected.items():
        got = tensors[name].to_source(results[name])
        assert got.shape == want.shape, name
        reach = float(np.ptp(want)) or 1.0
        worst = max(worst, float(np.max(np.abs(got.astype(float) - want))) / reach)
    return worst


@pytest.fixture(scope="session")
def agree() -> Callable[..., Agreement]:
    """Compare a model with its networks; fails above `within`, a share of the outputs' range."""

    def check(
        model: onnx.ModelProto, seed: int = 0, passes: bool = True, within: float = 1e-5
    ) -> Agreement:
        result = compare(model, seed, passes)
        assert result.error_read <= within, result.error_read
        assert result.error_optimized <= within, result.error_optimized
        return result

    return check


@pytest.fixture(scope="session")
def onnx_model() -> Callable[..., onnx.ModelProto]:
    """The function that makes small models."""
    return make_model


@pytest.fixture
def arc(tmp_path: Path) -> Path:
    """Relu, and the arc sine of its result."""
    nodes = [helper.make_node("Relu", ["x"], ["a"], "first"), helper.make_node("Asin", "a", "y")]
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (1, 4, 32, 32)) for name in "xy"
    ]
    graph = helper.make_graph(nodes, "arc", ends[:1], ends[1:])
    path = tmp_path / "arc.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path
