"""Models that come with seqtag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

_HERE = Path(__file__).parents[1]
MODELS = next(  # inside the package if installed, next to it in a source tree
    (path for path in (_HERE / "models", _HERE.parent / "models") if path.is_dir()),
    _HERE / "models",
)
DEFAULT_MODELS = ("en",)


def embedded_models() -> list[str]:
    """Return the names of the models that come with seqtag, sorted."""
    return sorted(path.stem for path in MODELS.glob("*.seqtag"))


def find_model(path_or_name: str | PathLike[str]) -> Path:
    """Return the path of a model: the path itself if it exists, else the embedded model."""
    path = Path(path_or_name)
    embedded = MODELS / f"{path_or_name}.seqtag"
    return embedded if not path.exists() and embedded.is_file() else path
