"""What a normalisation costs: two passes, the second of which reads again unless a pixel is all."""

from hexsim.hvx.kernels import node_work
from hexsim.studies.probes import kernel_call
from hexsim.timing.memory import Traffic
from tests.hvx.kernels.test_kernels import TARGET


def test_a_norm_of_pixels_reads_once_and_one_of_channels_twice() -> None:
    for kind, read in (("layer_norm", 1000 + 128), ("instance_norm", 2000)):
        work = node_work(kernel_call(kind, "16x16x64"), TARGET, Traffic(1000, 500))
        assert (work.read_bytes, work.write_bytes) == (read, 500)
        first, second = work.stages
        assert sum(i.packets for i in first.items) < sum(i.packets for i in second.items)
