"""Runs on many machines: workers of a Dask cluster play, and one writer stores the results.

Each worker has a `Player`, a Dask actor. It sends every finished call to the command and continues the conversation
once the call is on file. A killed worker loses only its calls in flight, as on one machine.
"""

from .cluster import Cluster, check_executor, opened, spread
