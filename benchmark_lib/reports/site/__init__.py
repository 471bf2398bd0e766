"""The site: run files -> one folder of static pages that open from disk, without a network and without a framework."""

from .build import Site, build_site

__all__ = ["Site", "build_site"]
