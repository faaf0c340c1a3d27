"""The README's five minutes by a client of openapi-generator's `python`. Prints what it saw as JSON."""

import json
import os
import time

import openapi_client as api
from openapi_client.exceptions import NotFoundException
from upload import CONFIG, archive, upload

url = os.environ["SERVICE_URL"]
request = api.CreateTokenRequest(grant_type="password", username="admin", password=os.environ["ADMIN_PASSWORD"])
configuration = api.Configuration(host=url)
token = api.SignInApi(api.ApiClient(configuration)).create_token(request)
configuration.access_token = token.access_token
client = api.ApiClient(configuration)
projects, experiments = api.ProjectsApi(client), api.ExperimentsApi(client)

id = projects.create_project(
    project_name="Hello",
    project_description="My first project",
    project_type="vision",
    project_task="classification",
).project_id
config = api.ConfigurationsApi(client).put_config(id, "train.yaml", CONFIG)
data, sha256 = archive()
source = api.SourceAndDataApi(client)
ticket = source.request_source_upload(id, sha256, len(data))
upload(ticket.upload.url, ticket.upload.method, ticket.upload.headers, data)
source.put_source(id, sha256)
api.EnvironmentApi(client).put_environment(id, "python3 train.py {config}", "system", "none")
experiment = api.TrainingApi(client).train_project(id, "train.yaml")
for _ in range(120):
    experiment = experiments.read_experiment(id, experiment.experiment_id)
    if experiment.status in ("SUCCEEDED", "FAILED", "CANCELLED"):
        break
    time.sleep(0.5)
lines = experiments.read_experiment_logs(id, experiment.experiment_id)
points = experiments.read_experiment_metrics(id, experiment.experiment_id)
artifact = experiments.download_artifact(id, experiment.experiment_id, "model.txt")
masked = projects.read_project(id, x_fields="{project_name}").actual_instance
try:
    projects.read_project("01h00000000000000000000000")
    raise AssertionError("a project that is not there was answered")
except NotFoundException as error:
    problem = json.loads(error.body)
print(
    json.dumps(
        {
            "config": [config.config_id, config.version],
            "status": experiment.status,
            "logged": [line.message for line in lines if line.message.startswith("epoch")],
            "metrics": [getattr(point.value, "actual_instance", point.value) for point in points if point.name == "accuracy"],
            "artifact": bytes(artifact).decode(),
            "masked": {name: value for name, value in masked.to_dict().items() if value is not None},
            "problem": [problem["status"], problem["type"]],
        }
    )
)
