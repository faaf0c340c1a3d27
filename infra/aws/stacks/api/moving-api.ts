import { Stack, type StackProps } from 'aws-cdk-lib';
import { RestApiMode } from 'aws-cdk-lib/aws-apigateway';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import type { Construct } from 'constructs';
import { apiContext } from '../../options/api-context.ts';

/** Return the stack of an API that an earlier release deployed, from a template file; undefined if none is moving. */
export function movingApi(scope: Construct, id: string, props: StackProps): Stack | undefined {
  const templateFile: unknown = scope.node.tryGetContext(apiContext.template);
  if (typeof templateFile !== 'string') return undefined;
  const stack = new Stack(scope, id, props);
  new CfnInclude(stack, 'Deployed', { templateFile });
  return stack;
}

/** Return how the document changes the deployed API. */
export const documentMode = (scope: Construct): RestApiMode =>
  scope.node.tryGetContext(apiContext.mode) === 'merge' ? RestApiMode.MERGE : RestApiMode.OVERWRITE;
