"""``python -m benchmark_lib`` is the same as ``deskbench``."""

import sys

from .cli import main

sys.exit(main())
