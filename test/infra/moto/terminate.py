"""Submits jobs to moto as functions do, and compares their tags with what the deployed roles permit.

moto looks at no tag when it decides what a role may do. So this reads the roles' policies back from moto as CloudFormation has
resolved them, and decides for the tags that the jobs have in Batch.

Usage: terminate.py <name of the deployment>
"""

import ast
import fnmatch
import functools
import json
import os
import subprocess
import sys
import urllib.request

import boto3

(name,) = sys.argv[1:]
batch = boto3.client("batch")
iam = boto3.client("iam")

# Jobs stay submitted: there are no containers to run them.
transition = {"model_name": "batch::job", "transition": {"progression": "manual", "times": 1000}}
urllib.request.urlopen(
    urllib.request.Request(
        f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/state-manager/set-transition",
        json.dumps(transition).encode(),
        {"Content-Type": "application/json"},
    )
)


def job(*arguments):
    done = subprocess.run(
        ["node", "test/infra/moto/batch-job.ts", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def described(job_id):
    return batch.describe_jobs(jobs=[job_id])["jobs"][0]


# moto makes no queue from the template, so there is one of its name.
trust = {"Version": "2012-10-17", "Statement": []}
role = iam.create_role(RoleName="batch", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
environment = batch.create_compute_environment(
    computeEnvironmentName="any", type="UNMANAGED", state="ENABLED", serviceRole=role
)["computeEnvironmentArn"]
queue = batch.create_job_queue(
    jobQueueName=f"{name}-train",
    state="ENABLED",
    priority=1,
    computeEnvironmentOrder=[{"order": 1, "computeEnvironment": environment}],
)["jobQueueArn"]
definition = batch.describe_job_definitions(jobDefinitionName=f"{name}-train")["jobDefinitions"][0]

own = job("submit", queue, f"{name}-train", name)
foreign = job("submit", queue, f"{name}-train", "another")
untagged = batch.submit_job(jobName="untagged", jobQueue=queue, jobDefinition=f"{name}-train")["jobId"]


@functools.cache
def statements(role_name):
    policies = iam.list_role_policies(RoleName=role_name)["PolicyNames"]
    documents = [iam.get_role_policy(RoleName=role_name, PolicyName=one)["PolicyDocument"] for one in policies]
    # What CloudFormation has made, moto answers as a text of Python's.
    return [one for document in documents for one in ast.literal_eval(str(document))["Statement"]]


def listed(value):
    return value if isinstance(value, list) else [value]


def permits(statement, action, resource, context):
    assert statement["Effect"] == "Allow", statement
    conditions = statement.get("Condition", {})
    if not any(fnmatch.fnmatchcase(action, one) for one in listed(statement["Action"])):
        return False
    assert set(conditions) <= {"StringEquals"}, conditions
    return any(fnmatch.fnmatchcase(resource, one) for one in listed(statement["Resource"])) and all(
        context.get(key) in listed(value) for key, value in conditions.get("StringEquals", {}).items()
    )


def permitted(action, resource, context):
    return {
        function
        for function, rights in roles.items()
        if any(permits(one, action, resource, context) for one in rights)
    }


def tags(what, job_id):
    return {f"aws:{what}Tag/{key}": value for key, value in described(job_id).get("tags", {}).items()}


roles = {
    function["FunctionName"]: statements(function["Role"].rsplit("/", 1)[1])
    for page in boto3.client("lambda").get_paginator("list_functions").paginate()
    for function in page["Functions"]
}
arns = {one: described(one)["jobArn"] for one in (own, foreign, untagged)}
terminating = permitted("batch:TerminateJob", arns[own], tags("Resource", own))
submitting = permitted("batch:SubmitJob", queue, {})
assert terminating and submitting
for other in (foreign, untagged):
    assert not permitted("batch:TerminateJob", arns[other], tags("Resource", other))
# A submission needs the right to give its tag.
definition_arn = definition["jobDefinitionArn"]
for resource in (arns[own], queue, definition_arn):
    assert permitted("batch:TagResource", resource, tags("Request", own)) == submitting, resource
    assert not permitted("batch:TagResource", resource, tags("Request", foreign)), resource
assert permitted("batch:SubmitJob", definition_arn, {}) == submitting

job("terminate", own, "cancelled by its owner")
assert described(own)["statusReason"] == "cancelled by its owner"
assert "statusReason" not in described(foreign)
print(
    f"of {len(roles)} functions {len(submitting)} may submit jobs with the tag of the deployment and with no other, and"
    f" {len(terminating)} may terminate jobs with it, and no others: {', '.join(sorted(terminating))}"
)
