"""Progress bars of training, in terminals and notebooks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seqtag.training.runs import Epoch


@contextmanager
def epoch_bar(*, shown: bool = True) -> Iterator[Callable[[Epoch], None] | None]:
    """Show a progress bar of epochs; return what advances it, for ``on_epoch`` of `seqtag.train`.

    Parameters
    ----------
    shown
        False for no bar; the result is then None.

    Examples
    --------
    >>> import seqtag
    >>> with epoch_bar(shown=False) as on_epoch:
    ...     tagger = seqtag.train([["the"]], [["DET"]], on_epoch=on_epoch)
    """
    if not shown:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(unit=" epochs") as bar:

        def advance(epoch: Epoch) -> None:
            score = f", dev {epoch.dev.score:.4f}" if epoch.dev else ""
            bar.set_postfix_str(f"{epoch.wrong_tokens:,} wrong tokens{score}", refresh=False)
            bar.update()

        yield advance
