"""Write tests/golden/embedding_losses.json: values and gradients of pytorch-metric-learning 2.8.1 on small batches.

    pip install torch pytorch-metric-learning==2.8.1
    python tools/make_embedding_golden.py

The tests compare with the file; they need neither package.
"""

import json
from pathlib import Path

import numpy as np
import pytorch_metric_learning
import torch
from pytorch_metric_learning import losses, miners
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.reducers import MeanReducer

VERSION = "2.8.1"
FILE = Path(__file__).resolve().parents[1] / "tests" / "golden" / "embedding_losses.json"
RAW, SQUARED = LpDistance(normalize_embeddings=False), LpDistance(normalize_embeddings=False, power=2)
CLASSES, D = 3, 4


def with_proxies(loss, W):
    loss.W = torch.nn.Parameter(W.T.clone())
    return loss


def semi_hard(margin):
    return miners.TripletMarginMiner(margin=margin, type_of_triplets="semihard")


def cases(W):
    """name of the loss here, its parameters here, the loss there, the miner there."""
    mean = MeanReducer()
    yield (
        "NormFace",
        {"scale": 20.0},
        with_proxies(losses.NormalizedSoftmaxLoss(CLASSES, D, temperature=0.05), W),
        None,
    )
    yield (
        "NormFace",
        {"scale": 2.0},
        with_proxies(losses.NormalizedSoftmaxLoss(CLASSES, D, temperature=0.5), W),
        None,
    )
    yield (
        "AMSoftmax",
        {"scale": 8.0, "margin": 0.35},
        with_proxies(losses.CosFaceLoss(CLASSES, D, margin=0.35, scale=8), W),
        None,
    )
    triplet = {"margin": 0.3, "normalize": True}
    yield "Triplet", {**triplet, "mining": "all"}, losses.TripletMarginLoss(0.3, reducer=mean), None
    yield (
        "Triplet",
        {**triplet, "mining": "hard"},
        losses.TripletMarginLoss(0.3, reducer=mean),
        miners.BatchHardMiner(),
    )
    yield "Triplet", {**triplet, "mining": "semi-hard"}, losses.TripletMarginLoss(0.3), semi_hard(0.3)
    yield (
        "Triplet",
        {"margin": 1.0, "normalize": False, "mining": "all"},
        losses.TripletMarginLoss(1.0, reducer=mean, distance=RAW),
        None,
    )
    yield (
        "Triplet",
        {"margin": 1.0, "normalize": False, "mining": "all", "squared": True},
        losses.TripletMarginLoss(1.0, reducer=mean, distance=SQUARED),
        None,
    )
    yield "LiftedStructured", {"margin": 1.0, "normalize": True}, losses.LiftedStructureLoss(), None
    yield (
        "LiftedStructured",
        {"margin": 2.0, "normalize": False},
        losses.LiftedStructureLoss(2.0, distance=RAW),
        None,
    )
    yield "Circle", {"gamma": 80.0, "margin": 0.4, "constant_weights": True}, losses.CircleLoss(), None
    yield "Circle", {"gamma": 5.0, "margin": 0.25, "constant_weights": True}, losses.CircleLoss(0.25, 5), None
    yield "NCA", {"scale": 1.0, "log": True, "normalize": True}, losses.NCALoss(), None
    yield "NCA", {"scale": 3.0, "log": True, "normalize": False}, losses.NCALoss(3, distance=SQUARED), None


def measured(loss, miner, Z, targets):
    Z = Z.clone().requires_grad_()
    chosen = () if miner is None else (miner(Z.detach(), targets),)
    value = loss(Z, targets, *chosen)
    value.backward()
    W = getattr(loss, "W", None)
    return {
        "value": value.item(),
        "gradient": Z.grad.tolist(),
        "of_proxies": None if W is None else W.grad.T.tolist(),
    }


def main() -> None:
    assert pytorch_metric_learning.__version__ == VERSION
    torch.set_default_dtype(torch.float64)
    rng = np.random.default_rng(0)
    Z, W = (
        torch.tensor(rng.normal(size=(12, D)).round(3)),
        torch.tensor(rng.normal(size=(CLASSES, D)).round(3)),
    )
    targets = torch.arange(12) % CLASSES
    found = [
        {"loss": name, "parameters": parameters, **measured(loss, miner, Z, targets)}
        for name, parameters, loss, miner in cases(W)
    ]
    FILE.parent.mkdir(exist_ok=True)
    batch = {"Z": Z.tolist(), "W": W.tolist(), "targets": targets.tolist()}
    text = json.dumps({"version": VERSION, "batch": batch, "cases": found}, indent=1)
    FILE.write_text(text + "\n")


if __name__ == "__main__":
    main()
