"""The readable twin of the native kernel: the reference, with all checks of arguments.

Whatever the kernel answers or refuses, the twin answers or refuses with the same bits or words.
`clustering` and `checks` are here because seqtag needs them nowhere without the kernel.
"""

from __future__ import annotations

from seqtag.engine import backend, frozen, keys, reference
from seqtag.engine.checks import check_plan, require
from tests.oracle import checks, clustering


class Weights(reference.Weights):
    """Weights in training."""

    def __init__(self, layout, dtype="float32", rule="adaptive", state=None):
        checks.check_layout(layout)
        if state is not None:
            checks.check_state(layout, state)
        super().__init__(layout, dtype, rule, state)

    def train_epoch(
        self,
        x,
        y,
        visits,
        rule="perceptron",
        step=1.0,
        cost=None,
        ties_are_mistakes=False,
        out_mistakes=None,
        choices=None,
        ask=None,
    ):
        checks.check_epoch(self.layout, x, y, visits, rule, cost, len(self.g) > 0, choices)
        return super().train_epoch(
            x, y, visits, rule, step, cost, ties_are_mistakes, out_mistakes, choices, ask
        )

    def decode(self, x):
        checks.check_instances(self.layout, x)
        return super().decode(x)


class Decoder(frozen.Decoder):
    """Decoder with quantized weights."""

    def margins(self, types, hashes, sentence_ptr, groups, workspace=None, allowed=None):
        require(len(groups) == self.labels, "groups must hold one number per label")
        return super().margins(types, hashes, sentence_ptr, groups, workspace, allowed)

    def n_best(self, types, hashes, sentence_ptr, n, workspace=None, allowed=None):
        require(n >= 1, "n must be at least 1")
        return super().n_best(types, hashes, sentence_ptr, n, workspace, allowed)

    def _potentials(self, types, hashes, sentence_ptr, workspace, allowed):
        for plan in (self.plan, self.edge_plan):
            if plan is self.plan or plan.seed.size:
                checks.check_columns(plan, types, hashes, sentence_ptr)
        checks.check_allowed(allowed, types.shape[1], self.labels)
        return super()._potentials(types, hashes, sentence_ptr, workspace, allowed)


def index_features(plan, types, hashes, sentence_ptr, min_count):
    check_plan(plan)
    checks.check_columns(plan, types, hashes, sentence_ptr)
    return keys.index_features(plan, types, hashes, sentence_ptr, min_count)


def label_lists(names, ids, ptr):
    checks.check_named(len(names), ids, ptr)
    return keys.label_lists(names, ids, ptr)


ORACLE = backend.get("reference")._replace(
    Weights=Weights,
    Decoder=Decoder,
    index_features=index_features,
    label_lists=label_lists,
    BigramCounter=clustering.BigramCounter,
    ExchangeClustering=clustering.ExchangeClustering,
    entropies=clustering.entropies,
)
