"""The builder: the weights it promises do what it expects of them."""

import numpy as np
import onnx
import onnxruntime
import pytest

from hexsim.models import BuiltModel, _builder, materialise
from hexsim.models._builder import LIFT, Builder
from hexsim.models._window import Window


def run(built: BuiltModel, x: np.ndarray) -> np.ndarray:
    proto = materialise(built)
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (y,) = session.run(None, {"x": x})
    return y


def noise(channels: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.standard_normal((1, channels, size, size)).astype(np.float32)


@pytest.mark.parametrize(("groups", "kernel"), [(1, 1), (1, 3), (4, 3)])
def test_convolutions_have_the_deviation_that_was_asked(groups: int, kernel: int) -> None:
    net = Builder("test", "x", (1, 64, 24, 24))
    built = net.finish(net.conv("x", "conv", 128, kernel, groups=groups, std=5.0))
    y = run(built, noise(64, 24))
    assert np.mean(y.std(axis=(0, 2, 3)) ** 2) ** 0.5 == pytest.approx(5.0, rel=0.1)
    assert y.mean() == pytest.approx(5.0 * LIFT, rel=0.1)


def test_batch_norm_matches_what_it_sees_after_a_relu() -> None:
    """Statistics made from weights and expected moments are those of the activations."""
    net = Builder("test", "x", (1, 64, 40, 40))
    y = net.relu(net.batch_norm(net.conv("x", "a", 64, 1, bias=False), "an"), "ar")
    built = net.finish(net.conv(y, "b", 128, Window(3, pads=1), bias=False))
    seen = run(built, noise(64, 40))
    net.batch_norm("b", "bn")
    whole = net.finish("bn")
    mean = whole.weights["bn.running_mean"]()
    actual = seen.mean(axis=(0, 2, 3))
    assert np.corrcoef(mean, actual)[0, 1] > 0.9
    assert np.abs(actual - mean).mean() < 0.1 * seen.std()


def test_biases_cancel_the_answer_to_expected_means() -> None:
    """Two layers on, each channel's mean is what its bias was drawn to give."""
    net = Builder("test", "x", (1, 64, 40, 40))
    y = net.relu(net.conv("x", "a", 64, 1), "ar")
    built = net.finish(net.conv(y, "b", 128, 1))
    means = run(built, noise(64, 40)).mean(axis=(0, 2, 3))
    assert means.mean() == pytest.approx(LIFT, rel=0.1)
    assert means.std() < 0.5  # the spread of channel scales gives 0.27


def test_two_tensors_of_one_name_are_a_mistake() -> None:
    net = Builder("test", "x", (1, 8, 4, 4))
    net.relu("x", "y")
    with pytest.raises(ValueError, match="two tensors named y"):
        net.relu("x", "y")


def test_a_standardised_picture_has_the_given_mean_and_deviation_taken_out() -> None:
    net = Builder("test", "x", (1, 2, 4, 4))
    built = net.finish(net.standardise("x", "y", (0.5, 0.25), (0.5, 0.125)))
    x = noise(2, 4)
    expected = (x - np.float32([0.5, 0.25])[:, None, None]) / np.float32([0.5, 0.125])[
        :, None, None
    ]
    np.testing.assert_allclose(run(built, x), expected, rtol=1e-6)


def test_a_lone_batch_norm_normalises_the_sum_before_it() -> None:
    net = Builder("test", "x", (1, 64, 40, 40))
    y = net.add(*(net.conv("x", name, 64, 1, std=3.0) for name in "ab"), "sum")
    y = run(net.finish(net.lone_batch_norm(y, "norm")), noise(64, 40))
    assert y.std(axis=(0, 2, 3)).mean() == pytest.approx(1.0, rel=0.1)
    assert y.mean() == pytest.approx(LIFT, rel=0.1)


def test_a_gate_scales_whole_channels_and_a_hard_swish_gates_itself() -> None:
    net = Builder("test", "x", (1, 8, 6, 6))
    x = noise(8, 6)
    gate = net.hard_sigmoid(net.global_average_pool("x", "mean"), "sigmoid")
    gated = run(net.finish(net.gate("x", gate, "gated")), x)
    factors = np.clip(x.mean(axis=(2, 3), keepdims=True) / 6 + 0.5, 0, 1)
    np.testing.assert_allclose(gated, x * factors, rtol=1e-5, atol=1e-7)
    net = Builder("test", "x", (1, 8, 6, 6))
    swished = run(net.finish(net.hard_swish("x", "swished")), x)
    np.testing.assert_allclose(swished, x * np.clip(x / 6 + 0.5, 0, 1), rtol=1e-5, atol=1e-7)


def test_a_network_may_have_several_outputs() -> None:
    net = Builder("test", "x", (1, 8, 6, 6))
    built = net.finish(net.conv("x", "a", 3, 1), net.conv("x", "b", 5, 1))
    assert [output.name for output in built.proto.graph.output] == ["a", "b"]


def test_a_weight_whose_statistics_are_asked_for_is_drawn_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bias and a batch norm depend on the weight before them, which was drawn already."""
    drawn: list[tuple[int, ...]] = []
    draw = _builder.filters

    def counted(
        rng: np.random.Generator, shape: tuple[int, ...], std: float, scales: np.ndarray
    ) -> np.ndarray:
        drawn.append(shape)
        return draw(rng, shape, std, scales)

    monkeypatch.setattr(_builder, "filters", counted)
    net = Builder("test", "x", (1, 8, 9, 9))
    normed = net.batch_norm(net.conv("x", "a", 65, 3, bias=False), "an")
    weights = net.finish(net.conv(normed, "b", 66, 3)).weights
    for name in ("a.weight", "an.running_mean", "an.running_var", "b.weight", "b.bias"):
        assert weights[name]().size
    assert drawn == [(65, 8, 3, 3), (66, 65, 3, 3)]
