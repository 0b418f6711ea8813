"""The page to annotate on: what it shows, and what it sends."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route

from seqtag.annotate.learner import Round, Suggestion, learn
from seqtag.serve.app import OWN_HOSTS, is_from_another_site, static
from seqtag.storage import strict_json
from seqtag.tagging.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from seqtag.annotate.decisions import Decisions
    from seqtag.annotate.learner import Task

_HELD_OUT_EACH = 5  # one of so many texts is drawn at random: the score is that on these
_ASSETS = {
    "/": (("annotate/annotate.html",), "text/html"),
    "/style.css": (("report/common.css", "annotate/annotate.css"), "text/css"),
    "/script.js": (("annotate/annotate.js",), "text/javascript"),
}


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

    Attributes
    ----------
    session : int
        Number of the window that is at work.
    item : dict
        The text that is shown, with what is found in it; empty if all are decided.
    """

    def __init__(self, task: Task, origins: Mapping[str, Any], decisions: Decisions):
        self._task, self._origins, self._decisions = task, origins, decisions
        self.session = 0
        self._decided = {each["text"] for each in decisions.lines} & {*origins}
        self._done = list[dict[str, Any]]()  # items that can be taken back
        self._round = Round()
        self._words = Pipeline(task.cutter.models)  # finds them
        self.item = self._next()
        self._curve = list[tuple[int, float]]()
        context = multiprocessing.get_context("spawn")  # no socket is shared
        self._link, other = context.Pipe()
        arguments = (task, decisions.file.name, other)
        self._learner = context.Process(target=learn, args=arguments, daemon=True)
        self._learner.start()
        other.close()  # so that each end sees when the other is gone

    def state(self) -> dict[str, Any]:
        """Tell the learner how much is decided; return what the page shows."""
        with suppress(EOFError, OSError):  # the learner has ended
            while self._link.poll():
                self._round = self._link.recv()
                self._curve += [self._round.point] if self._round.point else []
            self._link.send(len(self._decisions.lines))
        return {
            "session": self.session,
            "labels": self._task.labels,
            "column": self._task.column,
            "texts": len(self._origins),
            "decided": len(self._decided),
            "undoable": len(self._done),
            "curve": self._curve,
            "learns": self._learner.is_alive(),
            "item": self.item,
        }

    def _next(self) -> dict[str, Any]:
        """Return the next text to show; nothing if all are decided."""
        held_out = len(self._decided) % _HELD_OUT_EACH == _HELD_OUT_EACH - 1
        queue = self._round.drawn if held_out else self._round.chosen
        for found in chain(queue, map(Suggestion, self._task.texts)):
            if found.text not in self._decided:
                [document] = self._words.pipe([found.text])
                places = {(start, end) for each in document for _, start, end in each.placed}
                return found._asdict() | {"places": sorted(places), "held_out": held_out}
        return {}

    def decide(self, value: Mapping[str, Any]) -> None:
        """Write what the page says of the text that it shows.

        Raises
        ------
        KeyError, CorpusError, ValueError
            If it is about another text, or no decision.
        OSError
            If it cannot be written.
        """
        item, column = self.item, self._task.column
        if value["text"] != item["text"]:
            raise ValueError
        found = {"text": value["text"], "answer": value["answer"], "held_out": item["held_out"]}
        if column:
            found |= {"tokens": value["tokens"], column: value["labels"]}
        else:
            found |= {"spans": value["spans"]}
        self._decisions.append(found | {"meta": self._origins[value["text"]]})
        self._decided.add(value["text"])
        self._done.append(item | {"spans": value["spans"]})
        self.item = self._next()

    def undo(self) -> None:
        """Take the last decision since the start back, and show its text as it was decided."""
        if self._done:
            self._decisions.undo()
            self.item = self._done.pop()
            self._decided.discard(self.item["text"])


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
                message = "This work goes on in another window. Reload this one to take it back."
                return JSONResponse({"error": message}, 409)
            if action == "decide":
                annotation.decide(value)
            elif action == "undo":
                annotation.undo()
        except (KeyError, TypeError, ValueError):
            return JSONResponse({"error": "expected what this page sends"}, 400)
        except OSError as error:
            message = f"Not saved: {error.strerror}. Make room, and accept again."
            return JSONResponse({"error": message}, 507)
        return JSONResponse(annotation.state())

    own = Middleware(TrustedHostMiddleware, allowed_hosts=OWN_HOSTS, www_redirect=False)
    routes = [Route(path, static(*asset), methods=["GET"]) for path, asset in _ASSETS.items()]
    return Starlette(routes=[*routes, Route("/api", answer, methods=["POST"])], middleware=[own])
