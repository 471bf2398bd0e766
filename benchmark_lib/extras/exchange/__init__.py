"""Import and export of files of other programs."""

from .exports import export_frames
from .imports import import_results
