"""How many networks keep up with a camera of 60 pictures per second, on one DSP.

python examples/throughput_of_a_camera.py [MODEL]

The camera's own filters use the DSP, too. Each network runs in a thread of its own, again and
again, and what counts is the slowest of its calls.
"""

import sys

import hexsim

PICTURES_PER_S = 60
MOST = 4


def main(name: str) -> None:
    """Print throughput and the slowest call for one network after the other."""
    model = hexsim.load(name)
    print(f"{name} on sd855, beside the camera\nnetworks  pictures/s each  slowest ms  keeps up")
    for count in range(1, MOST + 1):
        result = hexsim.throughput(model, chip="sd855", instances=count, background="camera")
        each = min(thread.inferences_per_second for thread in result.threads)
        slowest_ms = max(thread.latency_us["max"] for thread in result.threads) / 1e3
        keeps_up = "yes" if slowest_ms * PICTURES_PER_S <= 1000 else "no"
        print(f"{count:8} {each:16.0f} {slowest_ms:11.1f}  {keeps_up}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mobilenet_v2")
