import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** A role for functions with these statements and no others, besides the writing of the log. */
export function functionRole(
  scope: Construct,
  id: string,
  { statements, log }: { statements: readonly PolicyStatement[]; log: ILogGroup },
): Role {
  return new Role(scope, id, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    // A policy of its own would be one more resource for every role.
    inlinePolicies: { needs: policyOf(statements, log) },
  });
}

function policyOf(statements: readonly PolicyStatement[], log: ILogGroup): PolicyDocument {
  const writeLog = new PolicyStatement({
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [log.logGroupArn],
  });
  return new PolicyDocument({ statements: [...statements, writeLog] });
}

/**
 * The roles of a stack's functions. Functions with the same rights share a role: one for each would be a quarter of
 * the 500 resources that a stack may have, and grant nothing less.
 */
export class FunctionRoles {
  readonly #scope: Construct;
  readonly #log: ILogGroup;
  readonly #roles = new Map<string, Role>();

  constructor(scope: Construct, log: ILogGroup) {
    this.#scope = scope;
    this.#log = log;
  }

  /** The role with these statements and no others, besides the writing of the log. */
  roleOf(statements: readonly PolicyStatement[]): Role {
    const log = this.#log;
    // Named by what it grants: a function that comes or goes changes no other function's role.
    const rights = JSON.stringify(Stack.of(this.#scope).resolve(policyOf(statements, log).toJSON()));
    const present = this.#roles.get(rights);
    if (present !== undefined) return present;
    const digest = createHash('sha256').update(rights).digest('hex').slice(0, 12);
    const role = functionRole(this.#scope, `Role${digest}`, { statements, log });
    this.#roles.set(rights, role);
    return role;
  }
}
