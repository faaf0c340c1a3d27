#!/usr/bin/env bash
# Checks the synthesized templates with cfn-lint, from PyPI: plain, and with every option that adds something.
# Needs Python 3 with venv and the network. Usage: test/infra/lint.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH"

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'cfn-lint>=1,<2'

everything='{
  "spot": true, "registration": "open", "gpuInstanceTypes": "g4dn.xlarge", "trustedImages": "example/image:1",
  "corsOrigins": "https://app.example", "domainName": "api.example",
  "certificateArn": "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-0000-0000-000000000000",
  "alarmEmail": "somebody@example.org", "bucketVersioning": true, "pointInTimeRecovery": true,
  "deleteDataOnDestroy": true, "tags": "team=vision,stage=test", "permissionsBoundary": "developers",
  "vpcId": "vpc-0123456789abcdef0", "subnetIds": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
  "publicAddresses": false
}'

# What the CDK's own command does, without it: the flags of cdk.json with these options.
synthesize() {
  local context
  context="$(node -p 'JSON.stringify({ ...require("./cdk.json").context, ...JSON.parse(process.argv[1]) })' "$1")"
  CDK_OUTDIR="$folder/$2" CDK_CONTEXT_JSON="$context" node infra/aws/stacks/app.ts
}

start="$(date +%s)"
synthesize '{}' plain
echo "synthesized in $(($(date +%s) - start)) s, without an account and without Docker"
synthesize "$everything" everything

# W3005: the CDK names dependencies that references imply; a redundant line harms nobody.
"$folder/venv/bin/cfn-lint" --version
"$folder/venv/bin/cfn-lint" --non-zero-exit-code error --ignore-checks W3005 -- "$folder"/*/*.template.json \
  infra/aws/deploy/ci-role.yaml
echo "$(ls "$folder"/*/*.template.json | wc -l | tr -d ' ') templates without errors"
