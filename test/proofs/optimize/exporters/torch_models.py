"""Models of PyTorch, exported by whichever of its two exporters are there. Usage: torch_models.py <folder>"""

import io
import sys
import tempfile

import digits
import torch
from torch import nn

folder = sys.argv[1]
train_x, train_y, test_x, test_y = digits.load()


class Residual(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )
        self.down = nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1)
        self.head = nn.Linear(2 * channels, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.relu(self.down(torch.relu(x + self.body(x))))
        return self.head(x.mean((2, 3)))


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU6(),
            nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU6(),
            nn.Conv2d(16, 32, 1),
            nn.Hardswish(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(512, 10),
        )

    def forward(self, x):
        return self.layers(x)


class Concatenating(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, padding=1)
        self.branches = nn.ModuleList(nn.Conv2d(16, 12, k, padding=k // 2) for k in (1, 3, 5))
        self.mix = nn.Conv2d(36, 24, 1)
        self.head = nn.Linear(24 * 16, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.cat([torch.relu(branch(x)) for branch in self.branches], 1)
        x = torch.max_pool2d(torch.relu(self.mix(x)), 2)
        return self.head(x.reshape(x.shape[0], -1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0), 2)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.layers(self.embed(x.reshape(-1, 8, 8))).mean(1))


class Recurrent(nn.Module):
    def __init__(self, cell=nn.LSTM):
        super().__init__()
        self.cell = cell(8, 32, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.cell(x.reshape(-1, 8, 8))[0][:, -1])


class Gated(Recurrent):
    def __init__(self):
        super().__init__(nn.GRU)


def train(model):
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    x = torch.tensor(train_x).reshape(-1, 1, 8, 8)
    y = torch.tensor(train_y)
    model.train()
    for _ in range(8):
        for batch in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return model.eval()


def exporters():
    """TorchScript's exporter, and the one of torch.export where this PyTorch has it."""
    names = {"input_names": ["image"], "output_names": ["digit"]}
    axes = {"dynamic_axes": {"image": {0: "batch"}, "digit": {0: "batch"}}}
    major = int(torch.__version__.split(".")[0])
    legacy = {"dynamo": False} if major >= 2 else {}

    def script(model, sample, file):
        torch.onnx.export(model, sample, file, opset_version=16, **names, **axes, **legacy)

    yield "torchscript", script
    if major < 2:
        print("NOT EXPORTED torch.export: it came with PyTorch 2")
        return

    def dynamo(model, sample, file):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as kept:
            torch.onnx.export(model, (sample,), dynamo=True, **names).save(kept.name)
            file.write(open(kept.name, "rb").read())

    yield "torchexport", dynamo


torch.manual_seed(0)
for architecture in (Residual, Depthwise, Concatenating, Transformer, Recurrent, Gated):
    model = train(architecture())
    for exporter, export in exporters():
        file = io.BytesIO()
        name = f"{exporter}-{architecture.__name__.lower()}"
        try:
            export(model, torch.zeros(1, 1, 8, 8), file)
        except Exception as error:  # what an exporter cannot do is reported
            print("NOT EXPORTED", name, type(error).__name__, error)
            continue
        digits.keep(folder, name, file.getvalue(), "image", test_x.reshape(-1, 1, 8, 8), test_y)
