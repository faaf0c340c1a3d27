"""The stages that a configuration may name. Each gets the run, its own settings and what it depends on."""

import json
import time

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_digits as digits_of_sklearn
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from network import Network


def load_digits(run, settings):
    images, labels = digits_of_sklearn(return_X_y=True)
    print(f"{len(images)} images of {len(np.unique(labels))} digits")
    return [((images / 16).astype(np.float32), labels)]


def hold_back(run, settings, digits):
    shares = [settings["validation_share"], settings["test_share"]]
    rest, test = _split(digits, shares[1], run.seed)
    train, validation = _split(rest, shares[0] / (1 - shares[1]), run.seed)
    print(f"{len(train[0])} to train, {len(validation[0])} to validate, {len(test[0])} held back for the test")
    return [train, validation, test]


def shift_images(run, settings, train):
    images = train[0].reshape(-1, 8, 8)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    moved = [padded[:, y : y + 8, x : x + 8] for y, x in [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)]]
    print(f"{len(images) * len(moved)} images with their shifted copies")
    return [(np.concatenate(moved).reshape(-1, 64), np.tile(train[1], len(moved)))]


def fit_network(run, settings, train, validation):
    cluster = run.cluster
    network = Network(settings, run.seed, train)
    begun = network.resume(run.checkpoints, cluster)
    if begun > 0:
        print(f"resumed after epoch {begun}")
    shard = [part[cluster.rank :: cluster.nodes] for part in train]
    if cluster.nodes > 1:
        print(f"node {cluster.rank} of {cluster.nodes} trains on {len(shard[0])} images")
    for epoch in range(begun + 1, settings["epochs"] + 1):
        started = time.monotonic()
        loss = network.train_epoch(shard, cluster)
        if not cluster.is_main:
            continue
        val_loss, accuracy = network.measure(validation)
        _, train_accuracy = network.measure(shard)
        run.report(epoch, loss=loss, val_loss=val_loss, accuracy=accuracy, train_accuracy=train_accuracy)
        print(
            f"epoch {epoch:2}/{settings['epochs']}  loss {loss:.4f}  val_loss {val_loss:.4f}"
            f"  accuracy {accuracy:.4f}  {time.monotonic() - started:.2f} s"
        )
        if epoch % settings["checkpoint_every"] == 0:
            network.save(run.checkpoints, epoch)
    return [network]


def measure(run, settings, network, test):
    images, labels = test
    loss, accuracy = network.measure(test)
    confusion = confusion_matrix(labels, network.predict(images))
    run.report(network.epochs, test_accuracy=accuracy, test_loss=loss)
    report = {"accuracy": accuracy, "loss": loss, "images": len(images), "confusion": confusion.tolist()}
    (run.output / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    wrong = len(images) - int(np.trace(confusion))
    print(f"test accuracy {accuracy:.4f}: {wrong} of {len(images)} digits misread")
    return [report]


def write_onnx(run, settings, network):
    types = [("inputs", FloatTensorType([None, 64]))]
    model = to_onnx(network.classifier, initial_types=types, options={"zipmap": False}, target_opset=17)
    file = run.output / "digits.onnx"
    file.write_bytes(model.SerializeToString())
    print(f"digits.onnx: {file.stat().st_size} bytes, {len(model.graph.node)} operators")
    return [file]


def write_test_set(run, settings, test):
    file = run.output / "digits-test.npz"
    np.savez_compressed(file, inputs=test[0], labels=test[1].astype(np.int64))
    return [file]


def write_calibration_set(run, settings, train):
    file = run.output / "digits-calibration.npz"
    np.savez_compressed(file, inputs=train[0][: settings["images"]])
    return [file]


def compare_onnx(run, settings, model_file, test_file, network):
    with np.load(test_file) as test:
        inputs, labels = test["inputs"], test["labels"]
    predicted = ReferenceEvaluator(onnx.load(model_file)).run(None, {"inputs": inputs})[0]
    same = int(np.sum(predicted == network.predict(inputs)))
    print(f"the ONNX model reads {same} of {len(inputs)} digits as the network does, {np.mean(predicted == labels):.4f} right")
    if same < len(inputs):
        raise SystemExit("the exported model is not the trained one")


def _split(samples, share, seed):
    kept, back, kept_labels, back_labels = train_test_split(
        *samples, test_size=share, random_state=seed, stratify=samples[1]
    )
    return (kept, kept_labels), (back, back_labels)


STAGES = {
    stage.__name__: stage
    for stage in [
        load_digits,
        hold_back,
        shift_images,
        fit_network,
        measure,
        write_onnx,
        write_test_set,
        write_calibration_set,
        compare_onnx,
    ]
}
