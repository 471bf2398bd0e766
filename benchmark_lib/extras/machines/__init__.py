"""A run on many machines: the workers of a Dask cluster play the conversations, and one writer keeps them.

Each worker has a `Player`, an actor of Dask. It sends a finished call to the command that was given, and plays its
conversation on once that call is on file. So a killed worker costs the calls in flight on it, as on one machine.
"""

from .cluster import Cluster, check_executor, opened
from .spreading import spread
