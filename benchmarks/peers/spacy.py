"""spaCy's tagger on a small convolutional network, trained from scratch."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path

EPOCHS = 5  # minutes each; longer training gains some tenths of a point
_BATCH_WORDS = 1000
_MODEL = {
    "@architectures": "spacy.Tagger.v2",
    "tok2vec": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 96,
        "depth": 4,
        "embed_size": 2000,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
    },
}


class Adapter:
    """The pipe ``tagger`` alone, without vectors and without a pretrained pipeline."""

    module, distribution = "spacy", "spacy"
    settings = f"`tagger` on HashEmbedCNN (width 96, depth 4), {EPOCHS} epochs, no vectors"
    tasks = ("upos", "xpos")

    def train(self, corpus: Path, model: Path, task: Task, seed: int) -> None:
        """Train on the file, in batches of about a thousand words."""
        import spacy
        from spacy.tokens import Doc
        from spacy.training import Example
        from spacy.training.batchers import minibatch_by_words
        from spacy.util import fix_random_seed

        fix_random_seed(seed)
        nlp = spacy.blank("en")
        nlp.add_pipe("tagger", config={"model": _MODEL})
        examples = [
            Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=labels))
            for words, labels in zip(*read(task, corpus), strict=True)
        ]
        optimizer = nlp.initialize(lambda: examples)
        for _ in range(EPOCHS):
            random.shuffle(examples)
            for batch in minibatch_by_words(examples, _BATCH_WORDS):
                nlp.update(batch, sgd=optimizer, drop=0.1)
        with nlp.use_params(optimizer.averages):
            nlp.to_disk(model)

    def load(self, model: Path, task: Task) -> None:
        """Read the pipeline."""
        import spacy

        self._nlp = spacy.load(model)

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """All sentences in one stream of batches."""
        from spacy.tokens import Doc

        docs = (Doc(self._nlp.vocab, words=words) for words in sentences)
        return [[token.tag_ for token in doc] for doc in self._nlp.pipe(docs, batch_size=256)]
