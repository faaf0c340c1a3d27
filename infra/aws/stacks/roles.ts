import { createHash } from 'node:crypto';
import { Aws, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Need } from '../../../shared/core/needs.ts';
import { roleStatements } from '../../service/iam-statements.ts';
import type { LoadedTask } from '../../service/tasks.ts';
import type { TimerArns } from './function-variables.ts';

/**
 * Make the role that ECS itself uses to pull the images of Fargate jobs and to write the output of their
 * supervisors.
 */
export function executionRole(scope: Construct, log: LogGroup, images: readonly string[]): Role {
  const role = new Role(scope, 'ExecutionRole', { assumedBy: tasks });
  const repositories = repositoriesOf(images, Stack.of(scope));
  role.addToPolicy(
    new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [log.logGroupArn],
    }),
  );
  if (repositories.length > 0) allowPull(role, repositories);
  return role;
}

/** Tasks of this account alone. */
const tasks = new ServicePrincipal('ecs-tasks.amazonaws.com', {
  conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
});

const registry = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com[a-z.]*\/([^:@]+)/;

/** Return the repository ARNs of images in ECR. */
function repositoriesOf(images: readonly string[], stack: Stack): string[] {
  return images.flatMap((image) => {
    const [, account, region, resourceName] = registry.exec(image) ?? [];
    return account === undefined || region === undefined || resourceName === undefined
      ? []
      : [stack.formatArn({ service: 'ecr', account, region, resource: 'repository', resourceName })];
  });
}

function allowPull(role: Role, repositories: readonly string[]): void {
  role.addToPolicy(new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }));
  role.addToPolicy(
    new PolicyStatement({
      actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      resources: [...repositories],
    }),
  );
}

/** Make a role for functions with exactly these statements and the right to write the log. */
export function functionRole(
  scope: Construct,
  id: string,
  { statements, log }: { statements: readonly PolicyStatement[]; log: ILogGroup },
): Role {
  return new Role(scope, id, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    // Use an inline policy: a separate one would be one more resource per role.
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
 * The roles of a stack's functions. Functions with the same rights share a role. One role per function would take
 * a quarter of the 500 resources of a stack, and grant no fewer rights.
 */
export class FunctionRoles {
  readonly #scope: Construct;
  readonly #log: ILogGroup;
  readonly #roles = new Map<string, Role>();

  constructor(scope: Construct, log: ILogGroup) {
    this.#scope = scope;
    this.#log = log;
  }

  /** Return the role with exactly these statements and the right to write the log. */
  roleOf(statements: readonly PolicyStatement[]): Role {
    const log = this.#log;
    // Name the role by its rights: a change of one function then changes no other function's role.
    const rights = JSON.stringify(Stack.of(this.#scope).resolve(policyOf(statements, log).toJSON()));
    const present = this.#roles.get(rights);
    if (present !== undefined) return present;
    const digest = createHash('sha256').update(rights).digest('hex').slice(0, 12);
    const role = functionRole(this.#scope, `Role${digest}`, { statements, log });
    this.#roles.set(rights, role);
    return role;
  }
}

/** The resources of a deployment that functions and jobs need. */
export interface Resources {
  accounts: ITable;
  records: ITable;
  bucket: IBucket;
  /** ARNs of queues and definitions for submissions. */
  submissions: readonly string[];
  /** ARNs of jobs. Batch assigns their ids. */
  jobs: readonly string[];
  /** Name of the deployment. */
  deployment: string;
  /** ARN of the topic of mails; undefined if the deployment sends none. */
  mailTopic?: string | undefined;
  /** ARN of the function that sends messages of hooks. */
  notify: string;
  /** Timers of schedules. */
  timers: TimerArns;
}

/** Return the statements of a role for these needs: explicit actions on named resources. */
export function grantsOf(
  needs: readonly Need<unknown>[],
  { accounts, records, bucket, submissions, jobs, deployment, mailTopic, notify, timers }: Resources,
): PolicyStatement[] {
  const arns = {
    accounts: accounts.tableArn,
    records: records.tableArn,
    bucket: bucket.bucketArn,
    submissions,
    jobs,
    deployment,
    mailTopic,
    notify,
    timers,
  };
  return roleStatements(needs, arns).map(
    ({ actions, resources, conditions }) =>
      new PolicyStatement({
        actions: [...actions],
        resources: [...resources],
        ...(conditions !== undefined && { conditions }),
      }),
  );
}

/** Make the role of a job's supervisor, with exactly the rights that its program needs. */
export function jobRole(scope: Construct, { name, needs }: LoadedTask, resources: Resources): Role {
  const role = new Role(scope, `${name}Role`, { assumedBy: tasks });
  const statements = grantsOf(Object.values(needs), resources);
  new Policy(scope, `${name}Policy`, { roles: [role], statements });
  return role;
}
