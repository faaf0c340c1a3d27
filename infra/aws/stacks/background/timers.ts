import { Aws, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { type TimerArns, timerRoleName } from '../function-variables.ts';

/**
 * Add the group of the timers of schedules, which functions set, and the role that they take: it may start one function. Only
 * timers of this group can take it.
 */
export function addTimers(
  scope: Construct,
  { group, target }: TimerArns,
  options: Pick<DeploymentOptions, 'name'>,
): void {
  const stack = Stack.of(scope);
  new CfnScheduleGroup(scope, 'Timers', { name: group });
  const groupArn = stack.formatArn({
    service: 'scheduler',
    resource: 'schedule-group',
    resourceName: group,
  });
  new Role(scope, 'TimersRole', {
    roleName: timerRoleName(stack, options),
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': groupArn } },
    }),
    inlinePolicies: {
      start: new PolicyDocument({
        statements: [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [target] })],
      }),
    },
  });
}
