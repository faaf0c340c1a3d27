"""Models of Keras on TensorFlow, exported by tf2onnx. Usage: keras_models.py <folder>"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import digits
import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from keras import layers

folder = sys.argv[1]
keras.utils.set_random_seed(0)
train_x, train_y, test_x, test_y = digits.load()


def normalized(value):
    """Few epochs need running means that follow soon."""
    return layers.BatchNormalization(momentum=0.8)(value)


def block(value, channels, stride=1):
    """A residual block with normalization."""
    beside = value
    if stride > 1 or value.shape[-1] != channels:
        beside = layers.Conv2D(channels, 1, strides=stride)(value)
    value = layers.Conv2D(channels, 3, strides=stride, padding="same", use_bias=False)(value)
    value = layers.ReLU()(normalized(value))
    value = layers.Conv2D(channels, 3, padding="same", use_bias=False)(value)
    return layers.ReLU()(layers.Add()([normalized(value), beside]))


def residual(image):
    value = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
    return layers.GlobalAveragePooling2D()(block(block(value, 16), 32, 2))


def depthwise(image):
    value = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
    for channels in (24, 32):
        value = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(value)
        value = layers.ReLU(6.0)(normalized(value))
        value = layers.ReLU(6.0)(layers.Conv2D(channels, 1)(value))
    return layers.Flatten()(layers.MaxPooling2D()(value))


def concatenating(image):
    value = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
    branches = [layers.Conv2D(12, size, padding="same", activation="relu")(value) for size in (1, 3, 5)]
    value = layers.Concatenate()([*branches, layers.AveragePooling2D(3, 1, padding="same")(value)])
    return layers.Flatten()(layers.MaxPooling2D()(layers.Conv2D(32, 1, activation="relu")(value)))


def recurrent(image):
    return layers.LSTM(32)(layers.Reshape((8, 8))(image))


def gated(image):
    return layers.GRU(32)(layers.Reshape((8, 8))(image))


def gelu(value):
    """By the hyperbolic tangent: for the exact one tf2onnx writes an operator that no standard has."""
    return keras.activations.gelu(value, approximate=True)


def attentive(image):
    value = layers.Dense(32)(layers.Reshape((8, 8))(image))
    value = layers.LayerNormalization()(value + layers.MultiHeadAttention(4, 8)(value, value))
    value = layers.LayerNormalization()(value + layers.Dense(32)(layers.Dense(64, activation=gelu)(value)))
    return layers.GlobalAveragePooling1D()(value)


for body in (residual, depthwise, concatenating, recurrent, gated, attentive):
    name = f"keras-{body.__name__}"
    image = keras.Input((8, 8, 1), name="image")
    model = keras.Model(image, layers.Dense(10, name="digit")(body(image)))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(train_x.reshape(-1, 8, 8, 1), train_y, epochs=8, batch_size=32, verbose=0)
    call = tf.function(lambda image: model(image, training=False))
    signature = [tf.TensorSpec((None, 8, 8, 1), tf.float32, name="image")]
    onnx_model, _ = tf2onnx.convert.from_function(call, input_signature=signature, opset=17)
    digits.keep(folder, name, onnx_model.SerializeToString(), "image", test_x.reshape(-1, 8, 8, 1), test_y.astype(np.int64))
