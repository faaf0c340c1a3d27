import { ArnFormat, type Stack } from 'aws-cdk-lib';
import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';

/**
 * Name of an endpoint's function, at most 64 characters. It is a name, not a reference between stacks: CloudFormation
 * refuses to remove a function that another stack imports, so no endpoint could ever be removed.
 */
export const functionName = (
  { name }: Pick<DeploymentOptions, 'name'>,
  endpoint: Pick<AnyEndpoint, 'name'>,
): string => `${name}-${endpoint.name}`;

/** ARN of an endpoint's function, in the account and region of the stack. */
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
