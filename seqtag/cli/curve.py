"""Learning curves: ``seqtag tune --curve``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqtag.cli.common import Notes, check_target, print_json, refuse, say_table
from seqtag.cli.options import other_inputs, training_arguments
from seqtag.errors import install_hint
from seqtag.storage.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.cli.options import InputOptions
    from seqtag.training.runs import Epoch


_POINTS = 6  # training sizes, each twice the one before


def learning_curves(
    files: Sequence[str],
    dev: str,
    plot: str | None,
    reading: InputOptions,
    notes: Notes,
    *,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compute the learning curves of ``seqtag tune --curve``, and write and plot them.

    Parameters
    ----------
    files, dev
        Training and development data.
    plot
        File of the plot.
    reading
        How to read the data.
    notes
        Where to show the progress.
    force, as_json
        Whether the plot may be overwritten, and standard output gets JSON.
    **settings
        Values of the options of training, before `training_arguments`.
    """
    from seqtag.training.selection import Point, training_curves

    if plot and Path(plot).suffix.lower() not in (".png", ".svg"):
        refuse(f"expected --plot FILE.png or FILE.svg, found {plot!r}")
    if plot:
        _pyplot()  # fail before the work, not after it
        check_target(plot, [*files, dev, *other_inputs(settings)], force=force)
    training_arguments(settings)
    sentences = reading.gathered(files, notes)
    held_out = reading.gathered([dev], notes, "dev")

    def note_epoch(epoch: Epoch, error: float) -> None:
        dev = 100 - 100 * (epoch.dev.score if epoch.dev else 0.0)
        notes(f"epoch {epoch.epoch}: training error {100 * error:.2f}, dev {dev:.2f}")

    def note_size(point: Point) -> None:
        notes(
            f"{point.size} sentences: training error {100 - 100 * point.train:.2f}, "
            f"dev {100 - 100 * point.test:.2f}"
        )

    curves = training_curves(
        sentences, held_out, _POINTS, on_epoch=note_epoch, on_point=note_size, **settings
    )
    if plot:
        picture = _draw(plot, curves["by_epoch"], curves["by_size"])
        with Output(plot, overwrite=force) as out:
            out.write(picture)
        notes(f"{plot}: written")
    if as_json:
        print_json(curves)
    else:
        _print(curves["by_epoch"], curves["by_size"])


def _print(epochs: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Write two tables to stdout."""
    for name, points_of in (("epoch", epochs), ("sentences", rows)):
        figures = [
            (f"{row[name]}", f"{100 * row['train_error']:.2f}", f"{100 * row['dev_error']:.2f}")
            for row in points_of
        ]
        say_table([(name, "train error", "dev error"), *figures], ">")


def _pyplot() -> Any:
    """Return the figure class of matplotlib, which needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        refuse(f"--plot needs matplotlib; {install_hint('plot')}")
    return Figure


def _draw(plot: str, epochs: list[dict[str, Any]], rows: list[dict[str, Any]]) -> bytes:
    """Plot two panels with one scale of error."""
    figure = _pyplot()(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, points, name in ((panels[0], epochs, "epoch"), (panels[1], rows, "sentences")):
        x = [point[name] for point in points]
        axes.plot(x, [100 * p["train_error"] for p in points], "o--", color="C0", label="training")
        axes.plot(x, [100 * p["dev_error"] for p in points], "o-", color="C1", label="dev")
        axes.set_xlabel(name if name == "epoch" else "training sentences")
        axes.grid(alpha=0.3)
    panels[0].set_xticks([p["epoch"] for p in epochs][:: max(1, len(epochs) // 8)])
    panels[1].set_xscale("log", base=2)
    panels[1].set_xticks(
        [row["sentences"] for row in rows], [str(row["sentences"]) for row in rows]
    )
    panels[0].set_ylabel("error (%)")
    panels[0].legend(frameon=False)
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(plot).suffix[1:].lower(), dpi=150)
    return picture.getvalue()
