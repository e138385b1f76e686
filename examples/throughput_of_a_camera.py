"""How many networks keep up with a camera of 60 pictures per second, on one DSP.

python examples/throughput_of_a_camera.py [MODEL]

The camera's own filters use the DSP, too. Each network runs in a thread of its own, again and
again, and what counts is the slowest of its calls.
"""

import sys

from hexsim import load
from hexsim.datasheets.background import load as load_background
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.studies.throughput import Caller, ClosedLoop, throughput

PICTURES_PER_S = 60
MOST = 4


def main(name: str) -> None:
    """Print throughput and the slowest call for one network after the other."""
    platform = Platform.load("sd855")
    plan = deploy(load(name), platform, "dsp").plan
    loop = ClosedLoop(inferences=20, background=(load_background("camera"),))
    print(f"{name} on sd855, beside the camera\nnetworks  pictures/s each  slowest ms  keeps up")
    for count in range(1, MOST + 1):
        result = throughput(platform, [Caller(plan, instances=count)], loop)
        each = min(instance.pace.per_second for instance in result.instances)
        slowest_ms = max(instance.pace.percentile_ps(100) for instance in result.instances) / 1e9
        keeps_up = "yes" if slowest_ms * PICTURES_PER_S <= 1000 else "no"
        print(f"{count:8} {each:16.0f} {slowest_ms:11.1f}  {keeps_up}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mobilenet_v2")
