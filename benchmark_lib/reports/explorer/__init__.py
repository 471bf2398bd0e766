"""The list of conversations in JupyterLab: find one, read it, compare it with another, label it."""

from .labels import import_labels, read_labels, save_label

__all__ = ["import_labels", "read_labels", "save_label"]
