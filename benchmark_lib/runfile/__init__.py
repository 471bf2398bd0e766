"""The run file: one SQLite file with one experiment, from its manifest to its scores."""

from .run_file import RunFile, addresses, set_aside, without_line_ends
from .tables import (
    COLUMNS,
    FORMAT,
    PRAGMAS,
    SUFFIX,
    connect_to_read,
    connect_to_write,
    create,
    salt_in,
    sealed_insert,
    upsert,
    writing_rows,
)
