"""A deconvolution as the convolution of its phases."""

from hexsim.layers import Convolution, Window
from hexsim.planning.deconvolution_phases import in_phases
from tests.small_networks import Sketch, only_call


def test_a_stride_as_large_as_the_window_is_one_tap_and_no_more_work() -> None:
    net = Sketch((1, 7, 9, 32))
    call = only_call(net, net.deconv("in", 48, kernel=2, stride=2))
    phases = in_phases(call)
    assert isinstance(phases.layer, Convolution)
    assert phases.layer.window == Window((1, 1))
    assert (phases.results, phases.parameters) == (((1, 7, 9, 4 * 48),), ((1, 1, 32, 4 * 48),))
    assert phases.macs == call.macs


def test_phases_of_fewer_taps_are_filled_up() -> None:
    net = Sketch((1, 7, 9, 32))
    call = only_call(net, net.deconv("in", 48, kernel=3, stride=2))
    phases = in_phases(call)
    assert phases.parameters == ((2, 2, 32, 4 * 48),)
    assert phases.results == ((1, 8, 10, 4 * 48),)
    assert phases.macs > call.macs
