"""Deploys a CDK cloud assembly into moto and unpacks the code of the functions that are then there.

Usage: deploy.py <folder of the assembly> <folder for the code>
"""

import collections
import io
import json
import os
import sys
import zipfile

import boto3

assembly, code = sys.argv[1:]
account = boto3.client("sts").get_caller_identity()["Account"]
region = boto3.session.Session().region_name
s3 = boto3.client("s3")
cloudformation = boto3.client("cloudformation")
lambdas = boto3.client("lambda")


def resolved(text):
    return text.replace("${AWS::AccountId}", account).replace("${AWS::Region}", region).replace("${AWS::Partition}", "aws")


def zipped(folder):
    """The code of a function as the CDK would upload it, but for packages of another processor."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                archive.write(path, name)
    return content.getvalue()


def publish(stack):
    """Uploads the assets of a stack; template and code alike."""
    with open(os.path.join(assembly, f"{stack}.assets.json")) as file:
        files = json.load(file)["files"]
    for asset in files.values():
        path = os.path.join(assembly, asset["source"]["path"])
        body = zipped(path) if asset["source"]["packaging"] == "zip" else open(path, "rb").read()
        for destination in asset["destinations"].values():
            s3.put_object(Bucket=resolved(destination["bucketName"]), Key=resolved(destination["objectKey"]), Body=body)


# What moto's CloudFormation fails on, rather than pass over, and why.
refused = {
    "AWS::Batch::ComputeEnvironment": "it insists on a ServiceRole, for which AWS Batch has its service-linked one",
    "AWS::Batch::JobQueue": "it names compute environments",
    "AWS::ApiGateway::Deployment": "it passes over the document of an API, which then has no methods",
    "AWS::ApiGateway::Stage": "it names a deployment of the API",
}


def refusal(resource):
    if "NodeProperties" in resource.get("Properties", {}):
        return "it knows no multi-node jobs"
    return refused.get(resource["Type"])


def deploy(stack):
    """Creates a stack, and tells which resources of its template moto has not made."""
    with open(os.path.join(assembly, f"{stack}.template.json")) as file:
        template = json.load(file)
    # Which bootstrap there is, is a matter of real accounts.
    template.pop("Rules", None)
    template.get("Parameters", {}).pop("BootstrapVersion", None)
    left_out = [name for name, one in template["Resources"].items() if refusal(one) is not None]
    without = {name: one for name, one in template["Resources"].items() if name not in left_out}
    outputs = {
        name: one
        for name, one in template.get("Outputs", {}).items()
        if not any(f'"{left}"' in json.dumps(one) for left in left_out)
    }
    body = json.dumps({**template, "Resources": without, "Outputs": outputs})
    key = f"{stack}.json"
    s3.put_object(Bucket=bucket, Key=key, Body=body)
    cloudformation.create_stack(
        StackName=stack, TemplateURL=f"https://{bucket}.s3.amazonaws.com/{key}", Capabilities=["CAPABILITY_IAM"]
    )
    status = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
    made = {
        resource["LogicalResourceId"]
        for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
        for resource in page["StackResourceSummaries"]
    }
    missing = collections.Counter(
        (resource["Type"], refusal(resource) or "moto has no CloudFormation for it")
        for name, resource in template["Resources"].items()
        if name not in made or refusal(resource) is not None
    )
    count = len(template["Resources"]) - missing.total()
    print(f"{stack}: {status}, {count} of {len(template['Resources'])} resources made by moto")
    for (kind, reason), number in sorted(missing.items()):
        print(f"  left out: {number} × {kind}: {reason}")
    return status == "CREATE_COMPLETE"


def functions_of(stack):
    """Names of the deployed functions of a stack, with the place of their code that its template names."""
    with open(os.path.join(assembly, f"{stack}.template.json")) as file:
        resources = json.load(file)["Resources"]
    for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack):
        for resource in page["StackResourceSummaries"]:
            if resource["ResourceType"] == "AWS::Lambda::Function":
                logical = resource["LogicalResourceId"]
                name = logical[: logical.rindex("Function")]
                yield name, resource["PhysicalResourceId"], resources[logical]["Properties"]["Code"]["S3Key"]


def unpack(stack):
    """Takes the code of every function of a stack out of moto again, into folders by the names of their endpoints."""
    for name, function, key in functions_of(stack):
        size = lambdas.get_function(FunctionName=function)["Configuration"]["CodeSize"]
        content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        assert size == len(content), f"{function} was deployed with other code"
        zipfile.ZipFile(io.BytesIO(content)).extractall(os.path.join(code, name))
        yield name


with open(os.path.join(assembly, "manifest.json")) as file:
    artifacts = json.load(file)["artifacts"]
kinds = ["data", "compute", "functions", "api", "background"]
stacks = sorted(
    (name for name, artifact in artifacts.items() if artifact["type"] == "aws:cloudformation:stack"),
    key=lambda name: kinds.index(name.rsplit("-", 1)[1]),
)
bucket = f"cdk-hnb659fds-assets-{account}-{region}"
s3.create_bucket(Bucket=bucket)
complete = True
unpacked = []
for stack in stacks:
    publish(stack)
    complete = deploy(stack) and complete
    unpacked += unpack(stack)
print(f"{len(unpacked)} functions deployed; their code was taken back out")
sys.exit(0 if complete else "not every stack was completed")
