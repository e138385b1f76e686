"""Trains the networks of this folder on scikit-learn's digits and stores them beside this file.

It needs PyTorch, which the tests do not; in an environment of its own:

    python -m venv /tmp/train && /tmp/train/bin/pip install torch==2.13.0 numpy scikit-learn
    /tmp/train/bin/python -m tests.digits.train

Every network is stored as it comes out, whichever seed it had. Weights are kept in half precision,
which is what the stored network then consists of. Runs of one torch version on one machine repeat
to the bit; elsewhere the weights differ in their last digits, and so may tables made from them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.digits.architecture import BLOCKS, CLASSES, KINDS, SEEDS, Kind, Step, steps
from tests.digits.data import digits, path

EPOCHS = 60
BATCH = 64
RATE = 0.01
DECAY = 1e-4
SHIFT = 1
"""Pixels by which a training image is moved at most, in either direction."""


class Net(nn.Module):
    def __init__(self, kind: Kind) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        self.named: dict[str, nn.Module] = {}
        for step in steps(kind):
            self.named[step.name] = _convolution(step)
            layers.append(self.named[step.name])
            if step.norm:
                self.named[f"{step.name}_norm"] = nn.BatchNorm2d(step.outputs)
                layers.append(self.named[f"{step.name}_norm"])
            if step.activation is not None:
                layers.append(nn.ReLU6() if step.activation == "Relu6" else nn.ReLU())
        self.body = nn.Sequential(*layers)
        self.named["classify"] = self.head = nn.Linear(BLOCKS[-1][1], CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.body(x).mean((2, 3)))
        return scores

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights and statistics, named `<layer>.<what>`, as ONNX wants them."""
        return {
            f"{name}.{key}": value.detach().numpy().astype(np.float16)
            for name, module in self.named.items()
            for key, value in module.state_dict().items()
            if key != "num_batches_tracked"
        }


def _convolution(step: Step) -> nn.Conv2d:
    return nn.Conv2d(
        step.inputs,
        step.outputs,
        step.kernel,
        step.stride,
        padding=step.kernel // 2,
        groups=step.inputs if step.depthwise else 1,
        bias=not step.norm,
    )


def trained(kind: Kind, seed: int) -> tuple[Net, float]:
    """A network trained from `seed`, and its share of right answers on the digits held out."""
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    data = digits()
    images, labels = torch.from_numpy(data.train_images), torch.from_numpy(data.train_labels)
    net = Net(kind)
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=DECAY)
    batches = len(images) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, EPOCHS * batches)
    for _ in range(EPOCHS):
        order = torch.randperm(len(images))
        for batch in order[: batches * BATCH].split(BATCH):
            loss = nn.functional.cross_entropy(net(_moved(images[batch])), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with torch.no_grad():
        answers = net(torch.from_numpy(data.test_images)).argmax(1).numpy()
    return net, float(np.mean(answers == data.test_labels))


def _moved(images: torch.Tensor) -> torch.Tensor:
    """Each image moved by up to SHIFT pixels, blank paper behind it."""
    size = images.shape[-1]
    padded = nn.functional.pad(images, (SHIFT,) * 4)
    corners = torch.randint(0, 2 * SHIFT + 1, (len(images), 2))
    return torch.stack(
        [
            picture[:, y : y + size, x : x + size]
            for picture, (y, x) in zip(padded, corners, strict=True)
        ]
    )


def main() -> None:
    torch.set_num_threads(1)  # sums in one order
    for kind in KINDS:
        for seed in SEEDS:
            net, right = trained(kind, seed)
            np.savez_compressed(path(kind, seed), **net.arrays())  # type: ignore[arg-type]
            print(f"{kind} {seed}: {right:.2%} of the digits held out", flush=True)


if __name__ == "__main__":
    main()
