import { Stack } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { LoadedTask } from '../../../service/tasks.ts';
import { grantsOf, type Resources } from '../grants.ts';

const tasks = new ServicePrincipal('ecs-tasks.amazonaws.com');

/** The role of a job's supervisor: what its program needs, and nothing besides. */
export function jobRole(scope: Construct, { name, needs }: LoadedTask, resources: Resources): Role {
  const role = new Role(scope, `${name}Role`, { assumedBy: tasks });
  const statements = grantsOf(Object.values(needs), resources);
  new Policy(scope, `${name}Policy`, { roles: [role], statements });
  return role;
}

const registry = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com[a-z.]*\/([^:@]+)/;

/** ARNs of the repositories of those images that lie in ECR. */
function repositoriesOf(images: readonly string[], stack: Stack): string[] {
  return images.flatMap((image) => {
    const [, account, region, resourceName] = registry.exec(image) ?? [];
    return account === undefined || region === undefined || resourceName === undefined
      ? []
      : [stack.formatArn({ service: 'ecr', account, region, resource: 'repository', resourceName })];
  });
}

/** The role by which ECS itself pulls the images of Fargate jobs and writes what their supervisors print. */
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

function allowPull(role: Role, repositories: readonly string[]): void {
  role.addToPolicy(new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }));
  role.addToPolicy(
    new PolicyStatement({
      actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      resources: [...repositories],
    }),
  );
}
