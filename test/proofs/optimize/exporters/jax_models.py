"""Models of Flax on JAX, exported by jax2onnx. Usage: jax_models.py <folder>"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax2onnx import to_onnx

folder = sys.argv[1]
train_x, train_y, test_x, test_y = digits.load()


class Perceptron(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(64, 96, rngs=rngs)
        self.second = nnx.Linear(96, 64, rngs=rngs)
        self.last = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.gelu(self.second(nnx.relu(self.first(x)))))


class Convolutional(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Conv(1, 16, (3, 3), rngs=rngs)
        self.second = nnx.Conv(16, 16, (3, 3), rngs=rngs)
        self.third = nnx.Conv(16, 24, (3, 3), strides=(2, 2), rngs=rngs)
        self.last = nnx.Linear(24, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.first(x.reshape((-1, 8, 8, 1))))
        x = nnx.relu(self.third(x + nnx.relu(self.second(x))))
        return self.last(x.mean(axis=(1, 2)))


class Transformer(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Linear(8, 32, rngs=rngs)
        self.query = nnx.Linear(32, 32, rngs=rngs)
        self.key = nnx.Linear(32, 32, rngs=rngs)
        self.value = nnx.Linear(32, 32, rngs=rngs)
        self.norm = nnx.LayerNorm(32, rngs=rngs)
        self.wide = nnx.Linear(32, 64, rngs=rngs)
        self.narrow = nnx.Linear(64, 32, rngs=rngs)
        self.last = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, x):
        x = self.embed(x.reshape((-1, 8, 8)))
        scores = self.query(x) @ jnp.swapaxes(self.key(x), 1, 2) / jnp.sqrt(32.0)
        x = self.norm(x + nnx.softmax(scores) @ self.value(x))
        x = x + self.narrow(nnx.relu(self.wide(x)))
        return self.last(x.mean(axis=1))


@nnx.jit
def step(model, optimizer, x, y):
    def loss(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    optimizer.update(model, nnx.grad(loss)(model))


failed = []
for architecture in (Perceptron, Convolutional, Transformer):
    name = f"jax-{architecture.__name__.lower()}"
    model = architecture(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    rng = np.random.default_rng(0)
    for _ in range(10):
        for batch in np.array_split(rng.permutation(len(train_x)), len(train_x) // 32):
            step(model, optimizer, train_x[batch], train_y[batch])
    try:
        onnx_model = to_onnx(model, inputs=[("B", 64)], model_name=name)
    except Exception as error:  # what an exporter cannot do is reported
        failed.append(f"{name}: {type(error).__name__}: {error}")
        continue
    digits.keep(folder, name, onnx_model.SerializeToString(), onnx_model.graph.input[0].name, test_x, test_y)
for line in failed:
    print("NOT EXPORTED", line)
