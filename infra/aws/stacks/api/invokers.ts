import { createHash } from 'node:crypto';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

/** A function that API Gateway invokes. */
export interface InvokedFunction {
  name: string;
  arn: string;
}

/**
 * Number of roles that share the functions. The policies of a role have room for 75 of their ARNs (10,240 characters),
 * so these last for more routes than a stack can have.
 */
const shares = 4;

/** A function keeps its role when others come and go: a role that loses it would refuse the stage that is deployed. */
const shareOf = ({ name }: InvokedFunction): number =>
  createHash('sha256').update(name).digest().readUInt32BE() % shares;

/**
 * The roles by which API Gateway invokes these functions, named one by one, and nothing else. A permission of each
 * function would be as many resources more, and could name the API only where both are in one stack.
 */
export function invokersOf(
  scope: Construct,
  functions: readonly InvokedFunction[],
): Map<InvokedFunction, Role> {
  const roles = new Map<InvokedFunction, Role>();
  for (const [share, some] of Map.groupBy(functions, shareOf)) {
    const invoke = new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: some.map(({ arn }) => arn),
    });
    const role = new Role(scope, `Invoker${share + 1}`, {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: { invoke: new PolicyDocument({ statements: [invoke] }) },
    });
    for (const fn of some) roles.set(fn, role);
  }
  return roles;
}
