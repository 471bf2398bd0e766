"""Import and export of other programs' files."""

from .exports import export_frames
from .imports import import_results
