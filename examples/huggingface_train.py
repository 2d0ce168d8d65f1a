r"""Hugging Face Trainer: a small transformer that reads reviews, which are made on the spot.

    python huggingface_train.py --lr 0.002 --batch-size 8

The Trainer writes eval_results.json. It knows nothing of sgdphase, which runs it as a command:

    sgdphase diagnose --command 'python examples/huggingface_train.py --lr {lr} \
        --batch-size {batch} --epochs {epochs} --seed {seed}' --optimizer adamw \
        --metric eval_loss=json:eval_results.json --metric train_loss=json:train_results.json \
        --lr 0.002 --batch 8 --epochs 3 --batches 32 --seeds 5
"""

from __future__ import annotations

import argparse
import random

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

GOOD = ["good", "great", "fine", "lovely", "superb", "warm", "clever"]
BAD = ["bad", "dull", "poor", "awful", "weak", "cold", "silly"]
FILLER = ["the", "film", "story", "actor", "ending", "scene", "music", "was", "and", "very", "so"]
WORDS = ["[PAD]", *GOOD, *BAD, *FILLER]
LENGTH = 8


def reviews(count: int, seed: int) -> list[dict[str, list[int] | int]]:
    """Texts whose label is that of most of their opinions; one in ten has the wrong label."""
    rng = random.Random(seed)
    result = []
    for _ in range(count):
        opinions = [rng.random() < 0.5 for _ in range(5)]
        words = [rng.choice(GOOD if good else BAD) for good in opinions]
        words += rng.choices(FILLER, k=LENGTH - len(words))
        rng.shuffle(words)
        label = (sum(opinions) > 2) != (rng.random() < 0.1)
        result.append({"input_ids": [WORDS.index(word) for word in words], "labels": int(label)})
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=LENGTH, num_labels=2, pad_token_id=0,
        initializer_range=0.1,
    )  # fmt: skip
    trainer = Trainer(
        model=BertForSequenceClassification(config),
        args=TrainingArguments(
            output_dir=".", learning_rate=args.lr, per_device_train_batch_size=args.batch_size,
            num_train_epochs=args.epochs, seed=args.seed, per_device_eval_batch_size=256,
            save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True,
            dataloader_pin_memory=False,
        ),
        train_dataset=reviews(2048, seed=1),
        eval_dataset=reviews(1024, seed=2),
        compute_metrics=lambda p: {"accuracy": float((np.argmax(p[0], 1) == p[1]).mean())},
    )  # fmt: skip
    trainer.train()
    trainer.save_metrics(
        "train", trainer.evaluate(trainer.train_dataset, metric_key_prefix="train")
    )
    trainer.save_metrics("eval", trainer.evaluate())


if __name__ == "__main__":
    main()
