"""The page to annotate on: what it shows, and what it sends."""

from __future__ import annotations

from heapq import nsmallest
from itertools import chain
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from seqtag.annotate.decisions import ANSWERS
from seqtag.annotate.learner import learned
from seqtag.errors import CorpusError
from seqtag.serve.app import OWN_HOSTS_ONLY, is_from_another_site, page_routes
from seqtag.storage import strict_json
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import TagOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from multiprocessing.pool import Pool

    from starlette.requests import Request

    from seqtag.annotate.decisions import Decisions
    from seqtag.annotate.learner import Round, Task

_HELD_OUT_EACH = 5  # one of so many texts is drawn at random: the score is that on these
_LEAST_NEW = 5  # decisions that begin another round, if they are a twentieth of all
_DOUBTFUL = 5  # words of a text that a model is least certain of


class Annotation:
    """Texts, what is decided of them, and the text that is shown.

    Parameters
    ----------
    task
        What is annotated.
    origins
        What is known of each text, which its decision keeps as ``meta``.
    decisions
        The file of decisions; those on other texts stay in it.
    learners
        Another process, prepared to learn.

    Attributes
    ----------
    session : int
        Number of the window that is at work.
    item : dict
        The text that is shown, with what is found in it; empty if all are decided.
    """

    def __init__(
        self, task: Task, origins: Mapping[str, Any], decisions: Decisions, learners: Pool
    ):
        self._task, self._origins, self._decisions = task, origins, decisions
        self._learners, self._begun, self._failure = learners, -_LEAST_NEW, ""
        self._decided = {each["text"] for each in decisions.lines}
        self._first = self._model = task.model or Pipeline(task.cutter.models)
        self._chosen, self._curve = list[str](), list[tuple[int, float]]()
        self.session = 0
        self.item = self._next()

    def state(self) -> dict[str, Any]:
        """Return what the page shows; learn if enough is new."""
        count = len(self._decisions.lines)
        if abs(count - self._begun) >= max(_LEAST_NEW, count // 20):
            self._begun = count
            given = self._task, [*self._decisions.lines]
            self._learners.apply_async(learned, given, {}, self._use, self._fail)
        return {
            "session": self.session,
            "labels": self._task.labels,
            "column": self._task.column,
            "texts": len(self._origins),
            "decided": len(self._origins.keys() & self._decided),
            "undoable": bool(self._decisions.lines),
            "curve": self._curve,
            "failure": self._failure,
            "item": self.item,
        }

    def _use(self, found: Round) -> None:
        """Use what was learned for the next texts."""
        learner = found.model
        self._model = Pipeline([*self._task.cutter.models, learner]) if learner else self._first
        self._chosen = [*found.chosen]
        self._curve += [found.point] if found.point else []

    def _fail(self, error: BaseException) -> None:
        self._failure = str(error) or type(error).__name__

    def _next(self) -> dict[str, Any]:
        """Return the next text to show; nothing if all are decided."""
        is_held_out = len(self._decided) % _HELD_OUT_EACH == _HELD_OUT_EACH - 1
        waiting = chain([] if is_held_out else self._chosen, self._task.texts)
        text = next((each for each in waiting if each not in self._decided), None)
        return {} if text is None else self._shown(text, is_held_out, self._origins[text])

    def _shown(self, text: str, held_out: Any, meta: Any) -> dict[str, Any]:
        """Return a text to show, with the places of its words and what is found in it."""
        [document] = self._model.pipe([text], options=TagOptions(margin=True))
        places = [(start, end) for each in document for _, start, end in each.placed]
        item = {"text": text, "held_out": held_out, "meta": meta, "places": sorted({*places})}
        if not self._model.taggers:
            return item | {"spans": [], "doubtful": []}
        spans = [(each.start, each.end, each.label) for each in document.ents]
        if self._task.column:
            labels = [label for each in document for label in each.column(self._task.column)]
            spans = [(*place, label) for place, label in zip(places, labels, strict=True)]
        margins = [float(margin) for each in document for margin in each.column("margin")]
        doubtful = nsmallest(_DOUBTFUL, zip(margins, places, strict=True))
        return item | {
            "spans": [each for each in spans if each[2] in self._task.labels],
            "doubtful": [start for _, (start, _) in doubtful],
        }

    def decide(self, value: Mapping[str, Any]) -> None:
        """Write what the page says of the text that it shows.

        Raises
        ------
        LookupError, TypeError, ValueError
            If it is about another text, or no decision.
        OSError
            If it cannot be written.
        """
        item, column = self.item, self._task.column
        text, answer, spans = value["text"], value["answer"], [*self._checked(value["spans"])]
        if text != item["text"] or answer not in ANSWERS:
            msg = f"expected {' or '.join(ANSWERS)}, and the text that is shown"
            raise CorpusError(msg)
        row = {name: item[name] for name in ("text", "held_out", "meta")} | {"answer": answer}
        if column:
            words = item["places"] if answer == "accept" else []  # others have no labels to learn
            labels = {(start, end): label for start, end, label in spans}
            row |= {"tokens": [text[start:end] for start, end in words]}
            row |= {column: [labels.get(place) for place in words]}
        else:
            row |= {"spans": spans}
        self._decisions.append(row)
        self._decided.add(text)
        self.item = self._next()

    def _checked(self, spans: Any) -> Iterator[tuple[int, int, str]]:
        """Yield spans if they are of words, in order and apart, with known labels."""
        places, labels, done = self.item["places"], self._task.labels, 0
        starts, ends = {start for start, _ in places}, {end for _, end in places}
        for start, end, label in spans:
            is_of_words = start in starts and end in ends and done <= start < end
            if self._task.column:
                is_of_words &= (start, end) in places
            if not is_of_words or label not in labels:
                expected = f"expected spans of words, in order and apart, of {', '.join(labels)}"
                msg = f"{expected}, found {[start, end, label]!r:.60}"
                raise CorpusError(msg)
            yield int(start), int(end), label
            done = end

    def undo(self) -> None:
        """Take the last decision of the file back, and show its text as it was decided."""
        row, column = self._decisions.undo(), self._task.column
        self._decided.discard(row["text"])
        self.item = self._shown(row["text"], row.get("held_out"), row.get("meta"))
        labels = zip(self.item["places"], row[column] if column else (), strict=False)
        spans = [(*place, label) for place, label in labels if label]
        self.item["spans"] = spans if column else row["spans"]


def application(annotation: Annotation) -> Starlette:
    """Return the page and what it asks, as an ASGI application for this machine alone."""

    async def answer(request: Request) -> JSONResponse:
        is_json = request.headers.get("content-type") == "application/json"
        if is_from_another_site(request.scope) or not is_json:  # a form of another site sends none
            return JSONResponse({"error": "expected JSON, sent by this page"}, 403)
        try:
            value = strict_json.loads(await request.body())
            action = value["action"]
            if action == "open":
                annotation.session += 1
            elif value["session"] != annotation.session:
                message = (
                    "This page is not at work any more: another window goes on, or the command was "
                    "started again. Reload to go on here."
                )
                return JSONResponse({"error": message}, 409)
            if action == "decide":
                annotation.decide(value)
            elif action == "undo":
                annotation.undo()
        except (LookupError, TypeError, ValueError) as error:
            message = getattr(error, "message", "expected what this page sends")
            return JSONResponse({"error": message}, 400)
        except OSError as error:
            message = f"Not saved: {error.strerror}. Make room, and accept again."
            return JSONResponse({"error": message}, 507)
        return JSONResponse(annotation.state())

    routes = [*page_routes("annotate"), Route("/api", answer, methods=["POST"])]
    return Starlette(routes=routes, middleware=[OWN_HOSTS_ONLY])
