"""Copy this folder, give it a name that is an identifier, and ask one question."""

from foretrace import Scenario, Work, grid, predict
from foretrace.facts import Params


def work(params: Params) -> Work:
    """What a step has to do at least: here a sum of two vectors, one operation and three accesses an element."""
    return Work(flops=float(params["elements"]), bytes=3 * 4 * float(params["elements"]), dtype="fp32")


scenario = Scenario(
    title="A vector sum",
    question="From which size on is a sum of two vectors limited by memory and no longer by its launch?",
    label="vector_sum",
    variants=grid(elements=(2**10, 2**28), work=work),
    predictions=(
        predict.bound(
            "overhead", where={"elements": 2**10}, because="12 KiB move in nanoseconds, a launch takes microseconds"
        ),
        predict.bound(
            "memory", where={"elements": 2**28}, because="3 GiB move, and one addition an element is nothing"
        ),
        predict.count("kernel", 1, because="one elementwise kernel"),
    ),
)
