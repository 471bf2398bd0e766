"""The numbers of the report on one model, which the model's page of the site and notebook 20 draw."""

from .report import ModelReport, model_report

__all__ = ["ModelReport", "model_report"]
