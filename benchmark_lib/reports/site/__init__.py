"""The site: run files -> one folder of static pages that open from disk, without a network and without a framework."""

from .build import Site, build_site
from .models import ModelPage, model_page

__all__ = ["ModelPage", "Site", "build_site", "model_page"]
