"""A run on many machines: the workers of a Dask cluster play the conversations, and one writer keeps them.

The command deals conversations to one player on each worker, through Dask's queues. A finished call travels back at once, and its conversation
goes on only when the call is on disk, as on one machine; so a killed worker costs the calls in flight. No key passes the scheduler.
"""

from .cluster import Cluster, check_executor, opened
from .spreading import spread
