"""Run ``deskbench`` as ``python -m benchmark_lib``."""

import sys

from .cli import main

sys.exit(main())
