"""Walks through the restoration of a deployed data stack in moto: deletes and replaces, restores, and compares.

moto restores a table to its present items, whatever the time. So this proves the steps and the bucket, not the history of tables.

Usage: restore.py <name of the deployment>
"""

import datetime
import re
import subprocess
import sys
import time

import boto3

(name,) = sys.argv[1:]
s3 = boto3.client("s3")
dynamodb = boto3.client("dynamodb")
resources = {
    re.match("[A-Z][a-z]+", one["LogicalResourceId"])[0]: one["PhysicalResourceId"]
    for one in boto3.client("cloudformation").describe_stack_resources(StackName=f"{name}-data")["StackResources"]
    if one.get("ResourceType") in ("AWS::DynamoDB::Table", "AWS::S3::Bucket")
}
bucket = resources["Bucket"]
s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
for table in (resources["Accounts"], resources["Records"]):
    dynamodb.update_continuous_backups(
        TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    dynamodb.put_item(TableName=table, Item={"pk": {"S": "A"}, "sk": {"S": table}})


def put(key, body):
    s3.put_object(Bucket=bucket, Key=key, Body=body)


def contents():
    listed = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [one["Key"] for page in listed for one in page.get("Contents", [])]
    return {key: s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}


for number in range(1200):
    put(f"projects/{number}", b"kept")
put("projects/replaced twice/\u00e4 b+c", b"first")
put("projects/deleted before", b"gone")
# Within one second, S3 does not tell which came first.
time.sleep(1.1)
s3.delete_object(Bucket=bucket, Key="projects/deleted before")
before = contents()
time.sleep(2)
to = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
time.sleep(2)
for number in range(0, 1200, 2):
    s3.delete_object(Bucket=bucket, Key=f"projects/{number}")
put("projects/replaced twice/\u00e4 b+c", b"second")
put("projects/replaced twice/\u00e4 b+c", b"third")
put("projects/deleted before", b"new")
put("projects/new", b"new")

command = ["node", "infra/aws/deploy/restore.ts", "-c", f"name={name}", "--to", to.isoformat()]
for turn in ("first", "second"):
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"{turn} restoration: exit code {done.returncode}, {time.monotonic() - began:.1f} s\n{done.stdout}{done.stderr}")
    assert done.returncode == 0
    restored = contents()
    later = {"projects/deleted before": b"new", "projects/new": b"new"}
    assert restored == {**before, **later}, {
        key for key in {**restored, **before} if restored.get(key) != before.get(key)
    }

restored = re.search("are being restored: (\\S+), (\\S+)\\.", done.stdout).groups()
for table, source in zip(restored, (resources["Accounts"], resources["Records"])):
    items = dynamodb.scan(TableName=table)["Items"]
    assert {"pk": {"S": "A"}, "sk": {"S": source}} in items, items
print(f"{len(before)} objects and two tables are as they were")
