import { type App, type Stack, Tags } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { deploymentTag } from '../../../shared/aws/batch.ts';
import type { DeploymentParts } from '../build/build-parts.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { ApiStack } from './api/api-stack.ts';
import { movingApi } from './api/moving-api.ts';
import { BackgroundStack } from './background/background-stack.ts';
import { mailTopicName } from './background/hook-mail.ts';
import { batchNames, submissionArns } from './batch-names.ts';
import { ComputeStack } from './compute/compute-stack.ts';
import { DataStack } from './data-stack.ts';
import { functionVariables, notifyArn, timersOf } from './function-variables.ts';
import { FunctionsStack } from './functions-stack.ts';

/** Add the whole service to an app. */
export function addService(
  app: App,
  { endpoints, events, jobs, folderOf, imageFolder }: DeploymentParts,
  options: DeploymentOptions,
): ServiceStacks {
  const { name, region, tags, permissionsBoundary } = options;
  const props = (description: string) => ({
    description: `Model Project Service: ${description}`,
    ...(region !== undefined && { env: { region } }),
  });
  for (const [key, value] of Object.entries({ [deploymentTag]: name, ...tags })) Tags.of(app).add(key, value);
  const data = new DataStack(app, `${name}-data`, options, props('tables and bucket'));
  const compute = new ComputeStack(
    app,
    `${name}-compute`,
    data,
    { jobs, imageFolder },
    options,
    props('where jobs run'),
  );
  const names = batchNames(options);
  // By name, so no stack imports the topic from the one that has it.
  const mailTopic =
    options.hookMail.length === 0
      ? undefined
      : data.formatArn({ service: 'sns', resource: mailTopicName(options) });
  const parts = {
    resources: {
      ...data.stores,
      submissions: submissionArns(
        data,
        names,
        jobs.map((job) => job.name),
      ),
      jobs: [data.formatArn({ service: 'batch', resource: 'job', resourceName: '*' })],
      deployment: name,
      mailTopic,
      notify: notifyArn(data, options),
      timers: timersOf(data, options),
    },
    environment: functionVariables({ ...data.stores, mailTopic }, names, options),
    folderOf,
  };
  const functions = new FunctionsStack(
    app,
    `${name}-functions`,
    endpoints,
    parts,
    options,
    props('functions of the API'),
  );
  const apiId = `${name}-api`;
  const apiProps = props('the API');
  const api =
    movingApi(app, apiId, apiProps) ?? new ApiStack(app, apiId, endpoints, parts, options, apiProps);
  const background = new BackgroundStack(
    app,
    `${name}-background`,
    events,
    parts,
    options,
    props('events and lists'),
  );
  // Functions refer to queues and definitions by name, and the API to functions, so CloudFormation sees no
  // reference.
  for (const stack of [functions, background]) stack.addStackDependency(compute);
  api.addStackDependency(functions);
  const stacks = { data, compute, functions, api, background };
  if (permissionsBoundary !== undefined) {
    for (const stack of Object.values(stacks)) bound(stack, permissionsBoundary);
  }
  return stacks;
}

/** The stacks of a deployment. */
export interface ServiceStacks {
  data: DataStack;
  compute: ComputeStack;
  functions: FunctionsStack;
  api: Stack;
  background: BackgroundStack;
}

/** Set a permissions boundary on every role of a stack, with a policy of the account. */
function bound(stack: Stack, policyName: string): void {
  PermissionsBoundary.of(stack).apply(ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', policyName));
}
