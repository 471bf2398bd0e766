"""A run on many machines: the workers of a Dask cluster play the conversations, and one writer keeps them.

The command that was given deals conversations to one player on each worker, over a connection of its own. A finished
call travels back at once, and its conversation goes on only when the call is on disk, as on one machine; so a killed
worker costs the calls in flight. Dask starts the players, says which workers there are and carries nothing else: no
key, no prompt, no conversation passes its scheduler.
"""

from .cluster import Cluster, check_executor, opened
from .spreading import spread
