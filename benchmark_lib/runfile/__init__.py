"""The run file: one SQLite file with one experiment, from its manifest to its scores."""

from .run_file import RunFile, addresses, set_aside, without_line_ends
from .tables import (
    COLUMNS,
    FORMAT,
    PRAGMAS,
    ROWS_A_STATEMENT,
    SUFFIX,
    Connection,
    as_rows,
    connect_to_read,
    connect_to_write,
    create,
    writing_rows,
)
