r"""Lightning: a small regression, as many people write it.

    python lightning_train.py --lr 0.01 --batch-size 16

prints its validation loss. It knows nothing of sgdphase, which runs it as a command:

    sgdphase diagnose --command 'python examples/lightning_train.py --lr {lr} \
        --batch-size {batch} --epochs {epochs} --seed {seed}' \
        --metric 'val_loss=stdout:final val_loss (\S+)' --lr 0.01 --batch 16 --epochs 4 \
        --batches 64,256 --seeds 3
"""

from __future__ import annotations

import argparse
import logging
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="lightning")


def points(count: int, seed: int) -> TensorDataset:
    """A smooth function of ten numbers, with noise."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 10, generator=generator)
    y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
    return TensorDataset(x, y + 0.1 * torch.randn(count, 1, generator=generator))


class Regression(lightning.LightningModule):
    def __init__(self, lr: float) -> None:
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        return nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def validation_step(self, batch: list[torch.Tensor], _: int) -> None:
        self.log("val_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    lightning.seed_everything(args.seed, verbose=False)

    trainer = lightning.Trainer(
        max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
        limit_val_batches=1.0, check_val_every_n_epoch=1000,
    )  # fmt: skip
    model = Regression(args.lr)
    trainer.fit(model, DataLoader(points(2048, seed=1), args.batch_size, shuffle=True))
    (metrics,) = trainer.validate(model, DataLoader(points(2048, seed=2), 2048), verbose=False)
    print(f"final val_loss {metrics['val_loss']}")


if __name__ == "__main__":
    main()
