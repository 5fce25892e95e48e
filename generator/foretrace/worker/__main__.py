"""`python -m foretrace.worker [MODULE…]`: import torch and these modules, then serve jobs until standard input ends."""

import sys

from foretrace.worker.server import serve

if __name__ == "__main__":
    serve(preload=sys.argv[1:])
