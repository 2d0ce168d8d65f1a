"""A small ResNet with BatchNorm on 2000 photographs of CIFAR-10, flipped at random."""

import torch
from image_data import photographs
from torch import nn
from torch.nn.functional import relu


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.short = nn.Identity()
        if before != after:
            self.short = nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x):
        found = self.norm2(self.second(relu(self.norm1(self.first(x)))))
        return relu(found + self.short(x))


def model():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        Block(8, 8, 1),
        Block(8, 16, 2),
        Block(16, 32, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def data():
    return photographs("data_batch_1", 2000)


def test_data():
    return photographs("test_batch", 4000)


def augment(x):
    flipped = torch.rand(len(x), 1, 1, 1) < 0.5
    return torch.where(flipped, x.flip(-1), x)
