"""The run file: one SQLite file with one experiment, from its manifest to its scores."""

from .manifests import hide, is_hidden, without_line_ends
from .run_file import RunFile, connect_to_read
from .schema import FORMAT, KEYS, PRAGMAS, SCHEMA, SUFFIX, connect_to_write, create, upsert
