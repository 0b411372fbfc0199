"""Becomes the command it is given, bound to its parent: `python bound.py PARENT COMMAND...`.

Linux sends SIGTERM to the command when the parent dies, whatever killed it, so that nothing is
orphaned. Elsewhere there is no such signal, and the command runs unbound. This is a program of its
own rather than a preexec_fn, which would run Python between fork and exec among gRPC's threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # It died before it could be watched.
            sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606  # Becoming the command is what this program is for.


if __name__ == "__main__":
    main()
