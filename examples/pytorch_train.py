r"""Plain PyTorch: a classifier of points, as many people write it.

    python pytorch_train.py --lr 0.03 --batch-size 16

writes metrics.json. It knows nothing of sgdphase, which runs it as a command:

    sgdphase diagnose --command 'python examples/pytorch_train.py --lr {lr} --batch-size {batch} \
        --epochs {epochs} --seed {seed}' --metric test_error=json:metrics.json \
        --metric train_loss=json:metrics.json --lr 0.03 --batch 16 --epochs 8 \
        --batches 64,256 --seeds 5
"""

from __future__ import annotations

import argparse
import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def points(count: int, seed: int) -> TensorDataset:
    """Points of five overlapping clouds, and the number of the cloud."""
    centers = torch.randn(5, 20, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(5, (count,), generator=generator)
    return TensorDataset(centers[labels] + 2 * torch.randn(count, 20, generator=generator), labels)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.03)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    train, test = points(2048, seed=1), points(4096, seed=2)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    loss = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        for x, y in DataLoader(train, args.batch_size, shuffle=True):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        print(f"epoch {epoch} done")

    with torch.no_grad():
        x, y = test.tensors
        metrics = {
            "test_error": (model(x).argmax(dim=1) != y).float().mean().item(),
            "train_loss": loss(model(train.tensors[0]), train.tensors[1]).item(),
        }
    with open("metrics.json", "w") as file:
        json.dump(metrics, file)


if __name__ == "__main__":
    main()
