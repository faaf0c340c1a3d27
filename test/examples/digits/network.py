"""The network: scikit-learn's multilayer perceptron, trained an epoch at a time by one node or many."""

import pickle

import numpy as np
from sklearn.metrics import accuracy_score, log_loss
from sklearn.neural_network import MLPClassifier

DIGITS = np.arange(10)


class Network:
    def __init__(self, settings, seed, train):
        batch = settings["batch_size"]
        self.epochs = settings["epochs"]
        self.classifier = MLPClassifier(
            hidden_layer_sizes=tuple(settings["hidden_layers"]),
            batch_size=batch,
            learning_rate_init=settings["learning_rate"],
            alpha=settings["weight_decay"],
            random_state=seed,
        )
        # scikit-learn makes the weights in a first small step, the same one on every node.
        self.classifier.partial_fit(train[0][:batch], train[1][:batch], classes=DIGITS)

    def train_epoch(self, shard, cluster):
        """Trains on this node's images, then takes the mean of all nodes' weights. Returns their mean loss."""
        self.classifier.partial_fit(*shard)
        averaged = cluster.average(np.append(self._weights(), self.classifier.loss_))
        self._set_weights(averaged[:-1])
        return averaged[-1]

    def predict(self, images):
        return self.classifier.predict(images)

    def measure(self, samples):
        """Mean cross-entropy and the share of images that are read rightly."""
        images, labels = samples
        probabilities = self.classifier.predict_proba(images)
        return log_loss(labels, probabilities, labels=DIGITS), accuracy_score(labels, DIGITS[probabilities.argmax(axis=1)])

    def save(self, folder, epoch):
        new = folder / "checkpoint.new"
        new.write_bytes(pickle.dumps((epoch, self.classifier)))
        new.replace(folder / "checkpoint.pickle")

    def resume(self, folder, cluster):
        """Goes on from node 0's checkpoint, on every node. Returns the last epoch that is done."""
        epoch = 0
        file = folder / "checkpoint.pickle"
        if cluster.is_main and file.exists():
            epoch, self.classifier = pickle.loads(file.read_bytes())
        shared = cluster.share(np.append(self._weights(), epoch))
        self._set_weights(shared[:-1])
        return int(shared[-1])

    def _parts(self):
        return [*self.classifier.coefs_, *self.classifier.intercepts_]

    def _weights(self):
        return np.concatenate([part.ravel() for part in self._parts()]).astype(np.float64)

    def _set_weights(self, vector):
        start = 0
        for part in self._parts():
            # In place: the optimizer holds on to these very arrays.
            part[...] = vector[start : start + part.size].reshape(part.shape)
            start += part.size
