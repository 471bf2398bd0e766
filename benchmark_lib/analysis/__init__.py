"""Turn run files into frames, frames into tables, and arrays into estimates."""

from __future__ import annotations

from .dictionary import DICTIONARY
from .facets import facets
from .frames import Results, load_results
from .panels import PANELS, conversations_of, panel_of, panels_in, short_name
from .query import Query
