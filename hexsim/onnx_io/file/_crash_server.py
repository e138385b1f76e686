"""A separate program: calls the functions that it reads, which may end it.

It reads pickled functions with their arguments, and writes for each the result and an error, one of
them None or empty. It ends with the process that started it.
"""

import os
import pickle
import resource
import signal
import sys
import time

_SECONDS = 15
"""Most CPU time of a function (assumed)."""
_BYTES = 4 << 30
"""Most memory of this process, far above what onnx takes for files of phones (assumed)."""


def main() -> None:
    """Answer until there are no more requests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, _BYTES)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # for what libraries print
        while True:
            try:
                function, arguments, named = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            _limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + _SECONDS)
            try:
                answer = function(*arguments, **named), ""
            except Exception as error:  # of any kind: the caller tells it
                answer = None, str(error) or type(error).__name__
            pickle.dump(answer, answers)
            answers.flush()


def _limit(kind: int, amount: int) -> None:
    """Lower a limit of this process to `amount`, unless it is lower already."""
    most = resource.getrlimit(kind)[1]
    allowed = amount if most == resource.RLIM_INFINITY else min(amount, most)
    resource.setrlimit(kind, (allowed, most))


if __name__ == "__main__":
    main()
