"""Framework 1 as a loop: predict, be scored, learn; and what came of it."""

from spanwise.evaluate.compare import compare
from spanwise.evaluate.protocol import evaluate
from spanwise.evaluate.record import Row, read
from spanwise.evaluate.seeds import AcrossSeeds, across, by_seed
from spanwise.evaluate.summary import Evaluation, Summary

__all__ = ["AcrossSeeds", "Evaluation", "Row", "Summary", "across", "by_seed", "compare", "evaluate", "read"]
