"""Answers masks as Flask-RESTX itself does.

Reads {"data": [project, ...], "masks": [mask, ...]} from standard input. Writes one list per route, with one
[status, body] per mask, where the body of a 400 is its message: "one" marshals the first project, "list" all of them,
"write" also answers how often it was called, "error" returns an error body and its status instead of a project.
"""
import json
import sys

from flask import Flask
from flask_restx import Api, Resource, fields

given = json.load(sys.stdin)
app = Flask(__name__)
app.logger.disabled = True
api = Api(app)

metric = api.model(
    "Metric", {"criterion": fields.String, "value": fields.Float, "step": fields.Integer}
)
experiment = api.model(
    "Experiment",
    {
        "experiment_id": fields.String,
        "status": fields.String,
        "duration": fields.Float,
        "tags": fields.List(fields.String),
        "best": fields.Nested(metric, allow_null=True),
    },
)
environment = api.model(
    "Environment", {"env_type": fields.String, "dependencies": fields.List(fields.String)}
)
project = api.model(
    "Project",
    {
        "project_id": fields.String,
        "project_name": fields.String,
        "description": fields.String,
        "owner": fields.String,
        "lock-hash": fields.String,
        "x:score": fields.Integer,
        "tags": fields.List(fields.String),
        "counts": fields.Nested(
            api.model("Counts", {"configs": fields.Integer, "experiments": fields.Integer})
        ),
        "latest": fields.Nested(experiment, allow_null=True),
        "environment": fields.Nested(environment, allow_null=True),
        "experiments": fields.List(fields.Nested(experiment)),
        "curves": fields.List(fields.List(fields.Nested(metric))),
        "attributes": fields.Raw,
    },
)
writes = 0


@api.route("/one")
class One(Resource):
    @api.marshal_with(project)
    def get(self):
        return given["data"][0]


@api.route("/list")
class Many(Resource):
    @api.marshal_list_with(project)
    def get(self):
        return given["data"]


@api.route("/write")
class Write(Resource):
    @api.marshal_with(project)
    def post(self):
        global writes
        writes += 1
        return given["data"][0]


@api.route("/error")
class Missing(Resource):
    @api.marshal_with(project)
    def get(self):
        return {"message": "There is no project p9."}, 404


client = app.test_client()


def answer(route, mask):
    before = writes
    method = client.post if route == "write" else client.get
    response = method("/" + route, headers={"X-Fields": mask})
    body = response.get_json(silent=True)
    if response.status_code == 400:
        body = body["message"]
    return [response.status_code, [body, writes - before] if route == "write" else body]


json.dump(
    {route: [answer(route, mask) for mask in given["masks"]] for route in ("one", "list", "write", "error")},
    sys.stdout,
)
