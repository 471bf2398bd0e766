"""The transcripts of a site, as the scripts of `talk.html` hold them."""

import gzip
import json
from base64 import b64decode


def talks_of(folder):
    """The markup of every transcript of a site, by its place ``entry/case-trial``."""
    found = {}
    for path in sorted(folder.glob("talks/*.js")):
        packed = path.read_text().removeprefix('deskbench.packed.push("').removesuffix('");\n')
        entry = path.stem.rpartition("-")[0]
        found |= {f"{entry}/{name}": markup for name, markup in json.loads(gzip.decompress(b64decode(packed))).items()}
    return found
