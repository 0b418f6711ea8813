"""What PyInstaller has to add to a program that uses seqtag: models, tables, and lazy imports."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

from seqtag.catalogue.entries import CATALOGUE
from seqtag.model.embedded import MODELS


def _needs_no_extra(name: str) -> bool:
    return not name.startswith(("seqtag.integrations", "seqtag.serve", "seqtag.batch.on_ray"))


datas = collect_data_files("seqtag", excludes=["models", "corpora"])
datas += [(str(path), "seqtag/models") for path in MODELS.glob("*.seqtag")]
datas += [(str(path), "seqtag/corpora") for path in CATALOGUE.parent.glob("*.t*")]
hiddenimports = collect_submodules("seqtag", filter=_needs_no_extra)
