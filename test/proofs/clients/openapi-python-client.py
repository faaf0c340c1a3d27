"""The README's five minutes by a client of openapi-python-client. Prints what it saw as JSON."""

import io
import json
import os
import time

from model_project_service_client import AuthenticatedClient, Client
from model_project_service_client.api.configurations import put_config
from model_project_service_client.api.environment import put_environment
from model_project_service_client.api.experiments import (
    download_artifact,
    read_experiment,
    read_experiment_logs,
    read_experiment_metrics,
)
from model_project_service_client.api.projects import create_project, read_project
from model_project_service_client.api.sign_in import create_token
from model_project_service_client.api.source_and_data import put_source, request_source_upload
from model_project_service_client.api.training import train_project
from model_project_service_client.models import CreateTokenBody, PutEnvironmentEnvType
from model_project_service_client.types import File
from upload import CONFIG, archive, upload

url = os.environ["SERVICE_URL"]
body = CreateTokenBody(grant_type="password", username="admin", password=os.environ["ADMIN_PASSWORD"])
token = create_token.sync(client=Client(base_url=url), body=body)
client = AuthenticatedClient(base_url=url, token=token.access_token, follow_redirects=True)

project = create_project.sync(
    client=client,
    project_name="Hello",
    project_description="My first project",
    project_type="vision",
    project_task="classification",
)
id = project.project_id
config = put_config.sync(id, "train.yaml", client=client, body=File(payload=io.BytesIO(CONFIG)))
data, sha256 = archive()
ticket = request_source_upload.sync(id, client=client, sha256=sha256, size=len(data))
upload(ticket.upload.url, ticket.upload.method, ticket.upload.headers.additional_properties, data)
put_source.sync(id, client=client, sha256=sha256)
put_environment.sync(
    id,
    client=client,
    entry_point_command="python3 train.py {config}",
    env_type=PutEnvironmentEnvType.SYSTEM,
    dependencies="none",
)
experiment = train_project.sync(id, client=client, config="train.yaml")
for _ in range(120):
    experiment = read_experiment.sync(id, experiment.experiment_id, client=client)
    if experiment.status in ("SUCCEEDED", "FAILED", "CANCELLED"):
        break
    time.sleep(0.5)
lines = read_experiment_logs.sync(id, experiment.experiment_id, client=client)
points = read_experiment_metrics.sync(id, experiment.experiment_id, client=client)
artifact = download_artifact.sync(id, experiment.experiment_id, "model.txt", client=client)
masked = read_project.sync(id, client=client, x_fields="{project_name}")
missing = read_project.sync("01h00000000000000000000000", client=client)
print(
    json.dumps(
        {
            "config": [config.config_id, config.version],
            "status": str(experiment.status),
            "logged": [line.message for line in lines if line.message.startswith("epoch")],
            "metrics": [point.value for point in points if point.name == "accuracy"],
            "artifact": artifact.payload.read().decode(),
            "masked": masked.to_dict(),
            "problem": [missing.status, missing.type_],
        }
    )
)
