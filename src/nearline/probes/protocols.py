"""PROTOCOLS: published ways to probe embeddings, by name. Each is a record of all that its figures depend on."""

from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from typing import Any

import numpy as np

from nearline._records.words import worded
from nearline.probes._part import Part
from nearline.probes.logistic import Fixed, Folds, HeldOut, Logistic
from nearline.probes.neighbors import NeighborVotes
from nearline.probes.ridge import RidgeOnSigns


@dataclass(frozen=True)
class Protocol:
    """How embeddings are probed. ``version`` counts changes of the record here: the same version gives the same figures."""

    name: str
    version: int
    source: str
    parts: tuple[Part, ...]
    shots: tuple[int, ...] = ()  # rows of each class that are drawn; none: all rows
    repeats: int = 1
    left_open: tuple[str, ...] = ()  # what the source does not say, and what is done here
    misleads: str = ""  # when its figure says less than it seems to
    tuned_on_test: bool = False  # whether figures published with it are the best of several on the test rows

    def record(self) -> dict[str, Any]:
        """All that decides the figures, as JSON has it."""
        parts = [part.record() for part in self.parts]
        return {"name": self.name, "version": self.version, "parts": parts}


TIES = (
    "ties at the k-th similarity, which its code leaves to the sort: here the tied rows share the places left"
)
FEATURES = "which layer the embeddings come from, and how test images are cut: whoever makes them decides"
DINO_KS = (10, 20, 100, 200)
TO_THE_MINIMUM = (
    "when L-BFGS stops (1,000 iterations at most): here at the minimum, by a certificate, so that a figure does not "
    "depend on the solver"
)

_ALL = (
    Protocol(
        "dino",
        1,
        "Caron et al. 2021, Emerging properties in self-supervised vision transformers (arXiv:2104.14294)",
        (NeighborVotes(DINO_KS, (0.07,)),),
        left_open=(TIES, FEATURES),
        misleads="The k of the figure that is quoted, 20, was found best on the rows that it is reported for.",
        tuned_on_test=True,
    ),
    Protocol(
        "dinov2",
        1,
        "Oquab et al. 2023, DINOv2: Learning robust visual features without supervision (arXiv:2304.07193)",
        (
            NeighborVotes(DINO_KS, (0.07,)),
            Logistic(tuple(10.0 ** np.linspace(-6, 5, 45)), HeldOut(0.1)),
        ),
        left_open=(
            TIES,
            TO_THE_MINIMUM,
            "the tenth of the training rows that chooses the strength, which its code draws over all rows: here by class",
            "the linear probe trained by SGD over many learning rates: left out, its figure is the best on the test rows",
        ),
        misleads="The quoted k was found on the test rows; the strength of the linear probe was not.",
        tuned_on_test=True,
    ),
    Protocol(
        "clip",
        1,
        "Radford et al. 2021, Learning transferable visual models from natural language supervision (arXiv:2103.00020), A.3",
        (Logistic(tuple(10.0 ** (np.arange(-48, 49) / 8.0)), HeldOut(0.2, halving=16)),),
        left_open=(
            TO_THE_MINIMUM,
            "the validation rows of data sets that have none: here a fifth of the training rows, drawn by class",
            "ties between strengths on the validation rows: here the most penalty",
            "the range of strengths has 96 steps, eight a factor of ten: both ends are tried here",
        ),
        misleads="One split chooses the strength, so that its luck is part of a figure on few rows.",
    ),
    Protocol(
        "lightly",
        1,
        "LightlySSL, k-NN classifier of its benchmarks (docs.lightly.ai), after Wu et al. 2018",
        (NeighborVotes((200,), (0.1,)),),
        left_open=(
            TIES,
            "its code keeps features as float16: here they are as given",
            "its linear probe, trained by SGD for 90 epochs: left out, its end is no minimum",
        ),
        misleads="k = 200 is more than a class has rows on small data, where the largest classes then win.",
    ),
    Protocol(
        "simsiam",
        1,
        "Chen and He 2020, Exploring simple Siamese representation learning (arXiv:2011.10566)",
        (NeighborVotes((200,), (0.07,)),),
        left_open=(
            TIES,
            "k and T of its k-NN monitor, not in its code: here those of Wu et al. 2018 (arXiv:1805.01978), which it cites",
            "its linear probe, trained by LARS for 90 epochs: left out, its end is no minimum",
        ),
        misleads="The k-NN figure watches a training on the test rows: picking the best epoch by it is test-set tuning.",
        tuned_on_test=True,
    ),
    Protocol(
        "mteb",
        1,
        "Muennighoff et al. 2022, MTEB: Massive text embedding benchmark (arXiv:2210.07316), classification",
        (Logistic((1.0,), Fixed()),),
        shots=(8,),
        repeats=10,
        left_open=(
            "the generator of the draws: here NumPy's, seeded with (random_state, repeat)",
            "some of its tasks draw 16 or 32 rows a class: here 8, which is its usual number; shots=32 gives others",
            "when the fit stops (100 iterations at most): here at the minimum, by a certificate",
        ),
        misleads="C = 1 is not tuned and not scale-free: embeddings of longer vectors are penalized less.",
    ),
    Protocol(
        "big_vision",
        1,
        "Dosovitskiy et al. 2020, An image is worth 16x16 words (arXiv:2010.11929), few-shot; google-research/big_vision",
        (RidgeOnSigns(tuple(2.0**i for i in range(-10, 21)), declared=2.0**10),),
        shots=(1, 5, 10, 25),
        repeats=3,
        left_open=(
            "the strength, which the paper does not give: the table has 2^10, as its code does, the records 2^-10 to 2^20",
            "the generator of the draws: here NumPy's, seeded with (random_state, repeat)",
        ),
        misleads="The strength of the table is fixed; the best of the records is found on the test rows.",
    ),
    Protocol(
        "honest",
        1,
        "this package",
        (
            NeighborVotes((1, 2, 5, 10, 20, 50, 100, 200), (0.02, 0.07, 0.2, inf), choose=True),
            Logistic(tuple(10.0 ** (np.arange(-12, 13) / 2.0)), Folds(5)),
        ),
        misleads="The interval speaks of other test rows of the same kind, not of other training rows or another task.",
    ),
)
PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in _ALL}


def as_protocol(protocol: Any) -> Protocol:
    """By name, by "name/version", or an object."""
    if isinstance(protocol, Protocol):
        return protocol
    name, _, version = str(protocol).partition("/")
    name = name.replace("-", "_")
    if name not in PROTOCOLS:
        near = get_close_matches(name, PROTOCOLS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"{worded('protocol', '--protocol')}: there is none called {protocol!r}.{hint} There are: "
            f"{', '.join(map(repr, PROTOCOLS))}."
        )
    found = PROTOCOLS[name]
    if version and version != str(found.version):
        raise ValueError(
            f"Protocol {name!r} has version {found.version} here, not {version!r}: leave the version out, or install the "
            "release of nearline that has it."
        )
    return found
