"""Models of scikit-learn, exported by skl2onnx. Usage: sklearn_models.py <folder>"""

import sys

import digits
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor

folder = sys.argv[1]
train_x, train_y, test_x, test_y = digits.load()


def export(name, model, options, labels=test_y):
    onnx_model = to_onnx(model, train_x[:1], options=options, target_opset=17)
    digits.keep(folder, name, onnx_model.SerializeToString(), onnx_model.graph.input[0].name, test_x, labels)


classifier = MLPClassifier(hidden_layer_sizes=(96, 64), random_state=0, max_iter=60).fit(train_x, train_y)
export("sklearn-mlp", classifier, {id(classifier): {"zipmap": False}})
regressor = MLPRegressor(hidden_layer_sizes=(64,), random_state=0, max_iter=60).fit(train_x, train_y)
# It answers a number, of which classes cannot be read.
export("sklearn-regressor", regressor, None, labels=None)
linear = LogisticRegression(max_iter=300).fit(train_x, train_y)
export("sklearn-linear", linear, {id(linear): {"zipmap": False}})
