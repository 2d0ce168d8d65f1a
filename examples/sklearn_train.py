r"""scikit-learn's SGDClassifier, which gets its data in pieces.

    python sklearn_train.py --lr 0.01 --batch-size 16

appends a line per epoch to log.jsonl. It knows nothing of sgdphase, which runs it as a command:

    sgdphase diagnose --command 'python examples/sklearn_train.py --lr {lr} --batch-size {batch} \
        --epochs {epochs} --seed {seed}' --metric test_error=jsonl:log.jsonl \
        --metric train_loss=jsonl:log.jsonl --lr 0.01 --batch 16 --epochs 4 \
        --batches 64,256 --seeds 3
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)

    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x / 16, y, test_size=0.4, random_state=args.seed)
    model = SGDClassifier(
        loss="log_loss", learning_rate="constant", eta0=args.lr, alpha=1e-5,
        random_state=args.seed,
    )  # fmt: skip
    for epoch in range(args.epochs):
        order = rng.permutation(len(y))
        for start in range(0, len(y), args.batch_size):
            chosen = order[start : start + args.batch_size]
            model.partial_fit(x[chosen], y[chosen], classes=np.arange(10))
        metrics = {
            "epoch": epoch,
            "test_error": 1 - model.score(x_test, y_test),
            "train_loss": log_loss(y, model.predict_proba(x)),
        }
        with open("log.jsonl", "a") as file:
            file.write(json.dumps(metrics) + "\n")


if __name__ == "__main__":
    main()
