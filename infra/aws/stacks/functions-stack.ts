import { ArnFormat, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { FunctionRuntime } from '../../../shared/core/function-runtime.ts';
import { allNeeds } from '../../../shared/http/definition/definition.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { ownVariables, saidOnce, timerVariables } from './function-variables.ts';
import { FunctionRoles, grantsOf } from './roles.ts';
import { type FunctionParts, ServiceFunction } from './service-function.ts';

/**
 * One function per endpoint, with shared roles. They have a stack of their own, because a stack may have 500 resources.
 */
export class FunctionsStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    endpoints: readonly AnyEndpoint[],
    { resources, environment, folderOf }: FunctionParts,
    options: DeploymentOptions,
    props: StackProps,
  ) {
    super(scope, id, props);
    const log = new LogGroup(this, 'FunctionLog', {
      retention: options.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const roles = new FunctionRoles(this, log);
    const variables = saidOnce(this, environment);
    for (const endpoint of endpoints) {
      const { name, method, path, runtime } = endpoint;
      const needs = allNeeds(endpoint);
      new ServiceFunction(this, name, {
        functionName: functionName(options, endpoint),
        description: `${method} ${path}`,
        folder: folderOf(name),
        ...(runtime !== undefined && { runtime: sized(runtime, options) }),
        environment: {
          ...variables,
          ...ownVariables(endpoint, options),
          ...timerVariables(needs, resources.timers),
        },
        logLevel: options.logLevel,
        log,
        role: roles.roleOf(grantsOf(needs, resources)),
      });
    }
  }
}

/** The function that serves models has the size that the deployment chose. */
const sized = (
  runtime: FunctionRuntime,
  { servingMemory, servingDisk, servingConcurrency }: DeploymentOptions,
): FunctionRuntime =>
  runtime.servesModels === true
    ? {
        ...runtime,
        memory: servingMemory,
        disk: servingDisk,
        ...(servingConcurrency !== undefined && { concurrency: servingConcurrency }),
      }
    : runtime;

/**
 * Return the name of an endpoint's function, at most 64 characters. This is a name, not a reference between
 * stacks: CloudFormation refuses to remove a function that another stack imports, so endpoints could never be
 * removed.
 */
const functionName = (
  { name }: Pick<DeploymentOptions, 'name'>,
  endpoint: Pick<AnyEndpoint, 'name'>,
): string => `${name}-${endpoint.name}`;

/** Return the ARN of an endpoint's function, in the account and region of the stack. */
export const functionArn = (
  stack: Stack,
  options: Pick<DeploymentOptions, 'name'>,
  endpoint: Pick<AnyEndpoint, 'name'>,
): string =>
  stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName(options, endpoint),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
