"""Other people's files, in and out."""

from .exports import export_frames
from .imports import import_results
