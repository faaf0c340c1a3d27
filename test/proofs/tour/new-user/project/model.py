"""A line between two kinds of points, by scikit-learn."""

from sklearn.linear_model import SGDClassifier


class Model:
    def __init__(self, learning_rate, seed):
        self.line = SGDClassifier(
            loss="log_loss", learning_rate="constant", eta0=learning_rate, random_state=seed
        )

    def learn(self, points, kinds):
        self.line.partial_fit(points, kinds, classes=[0, 1])

    def accuracy(self, points, kinds):
        return self.line.score(points, kinds)
