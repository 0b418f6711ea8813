"""Figures of tools that the suite does not run, each with where it is from."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """A published score and its source."""

    task: str
    tool: str
    score: str
    source: str


_OURS = "our earlier run"
_CONLL = "README of NLTK's conll2000 data"
_UDPIPE = "manual, gold tokens, UD 2.5"

FIGURES = (
    Figure("upos", "MarMoT (2015)", "94.65", f"{_OURS}; order 2, 10 passes"),
    Figure("upos", "UDPipe 1.2", "94.4", _UDPIPE),
    Figure("xpos", "MarMoT (2015)", "94.27", f"{_OURS}; order 2, 10 passes"),
    Figure("xpos", "Wapiti 1.5", "94.1", f"{_OURS}; sgd-l1, stopped after 31 passes"),
    Figure("xpos", "UDPipe 1.2", "93.9", _UDPIPE),
    Figure("xpos", "SoMeWeTa 1.8.1", "93.77", f"{_OURS}; 10 passes, beam 5"),
    Figure("chunk", "Suzuki & Isozaki 2008", "95.15", "NLP-progress; also uses raw text"),
    Figure("chunk", "Zhang, Damerau & Johnson 2001", "94.13", f"{_CONLL}, added later"),
    Figure("chunk", "Wu & Chang, linear SVM", "94.12", "abstract; 94.21 with their own tags"),
    Figure("chunk", "Kudo & Matsumoto 2001", "93.91", f"{_CONLL}, added later"),
    Figure("chunk", "Wapiti 1.5", "93.87", f"{_OURS}; rprop"),
    Figure("chunk", "Bottou's crfsgd", "93.49", "its README; CRF++ templates, 10 passes"),
    Figure("chunk", "Kudo & Matsumoto 2000", "93.48", f"{_CONLL}, best of the workshop"),
    Figure("chunk", "seqlearn (2016)", "93.32", f"{_OURS}; 10 passes, hashed features"),
    Figure("chunk", "CRF++ 0.59", "93.31", f"{_OURS}; stopped after 40 iterations"),
)
"""By task, the best first. MarMoT's papers have no figure for English-EWT."""
