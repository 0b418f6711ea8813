"""The report of a training on the command line: its epochs and its model."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqtag.cli.common import Notes, print_json
from seqtag.cli.signals import interruption_code
from seqtag.storage.output import marked

if TYPE_CHECKING:
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger
    from seqtag.training.runs import Epoch


class TrainingReport:
    """Report of a training: a line for each epoch, then its model.

    Parameters
    ----------
    notes
        Where to show it.
    model
        Output file of the model.
    runs
        Number of runs.
    """

    def __init__(self, notes: Notes, model: str, *, runs: int = 1):
        self._notes, self._model, self._runs = notes, model, runs
        self._epochs: list[dict[str, Any]] = []
        self._last: dict[int, Epoch] = {}  # of each run of this component
        self._best: dict[int, Epoch] = {}

    def add(self, epoch: Epoch) -> None:
        """Show an epoch."""
        self._notes(f"run {epoch.run} {epoch}" if self._runs > 1 else str(epoch))
        self._last[epoch.run] = epoch
        if epoch.best:
            self._best[epoch.run] = epoch
        self._epochs.append(
            {
                "run": epoch.run,
                "epoch": epoch.epoch,
                "updates": epoch.updates,
                "wrong_tokens": epoch.wrong_tokens,
                "dev": epoch.dev and epoch.dev.score,
            }
        )

    def add_component(self, name: str) -> None:
        """Show the next component of a pipeline."""
        self._show_kept()
        self._notes(f"component {name}")

    def _show_kept(self) -> None:
        """Show the epoch that each run kept, if there is a dev set."""
        for run, best in sorted(self._best.items()):
            if best.dev is not None:
                self._notes(
                    f"run {run} "
                    * (self._runs > 1)
                    + f"kept epoch {best.epoch} of {self._last[run].epoch}, the last one marked *: "
                    f"dev {best.dev.metric} {100 * best.dev.score:.2f}"
                )
        self._last, self._best = {}, {}

    def save(self, trained: Tagger | Pipeline, *, as_json: bool) -> int:
        """Save the model, describe it, and return the exit code."""
        from seqtag.tagging.pipeline import Pipeline
        from seqtag.training.interruption import Stop, put_off

        self._show_kept()
        stop = Stop()
        interrupted = trained.models[-1].interrupted
        with put_off(stop):  # a first interruption waits until the model is saved
            model = self._model
            if interrupted:  # the name is left to a finished model
                marks = chain(["interrupted"], map("interrupted-{}".format, count(2)))
                paths = (marked(Path(self._model), mark) for mark in marks)
                model = str(next(path for path in paths if not path.exists()))
            size = trained.save(model)
            if isinstance(trained, Pipeline):
                facts = {"parts": [m.config() for m in trained.models]}
                shown = ", ".join(f"{m.column} ({len(m.labels)})" for m in trained.models)
            else:
                facts = trained.info
                shown = (
                    f"{trained.label} from {', '.join(trained.columns)}, {len(trained.labels)} "
                    f"labels, {trained.info['training']['sentences']} sentences"
                )
            dev = trained.models[-1].training.get("dev")
            if self._runs > 1 and dev:
                self._notes(
                    f"average of {self._runs} runs: dev {dev['metric']} {100 * dev['score']:.2f}"
                )
            self._notes(f"{model}: {shown}, {size / 1e6:.1f} MB")
        if stop.requested():
            raise KeyboardInterrupt
        if as_json:
            print_json({"model": model, "bytes": size, "epochs": self._epochs} | facts)
        if not interrupted:
            return 0
        unchanged = f", {self._model} is unchanged" if Path(self._model).exists() else ""
        self._notes(f"interrupted: {model} holds what was learned until then{unchanged}")
        return interruption_code()
