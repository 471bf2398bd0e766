"""The list of conversations in JupyterLab: find, read, compare and label them."""

from .labels import import_labels, read_labels, save_label

__all__ = ["import_labels", "read_labels", "save_label"]
