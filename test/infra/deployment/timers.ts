import { expect, test } from 'vitest';
import { allNeeds } from '../../../shared/http/definition/definition.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { deployment, endpoints, events } from './synthesized.ts';

const service = await deployment({ region: 'eu-central-1' });

const variablesOf = (name: string): Record<string, unknown> =>
  service.one('AWS::Lambda::Function', `${name}Function`).Properties.Environment.Variables;

test('functions that set timers, and no others, learn their group, role and function', () => {
  const setting = [
    ...endpoints.filter((endpoint) => allNeeds(endpoint).some(({ resource }) => resource === 'timers')),
    ...events.filter(({ needs }) => Object.values(needs).some(({ resource }) => resource === 'timers')),
  ].map(({ name }) => name);
  const told = service
    .of('AWS::Lambda::Function')
    .filter(({ Properties }) => Properties.Environment?.Variables.SCHEDULE_ROLE !== undefined);

  const expected = ['backgroundPass', 'createSchedule', 'resumeSchedule', 'schedules', 'updateSchedule'];
  expect(setting.sort()).toEqual(expected);
  expect(told).toHaveLength(setting.length);
  expect(variablesOf('createSchedule')).toMatchObject({ SCHEDULE_GROUP: 'model-project-service' });
});

test('timers of this group alone take a role that may start one function, and functions hand over no other role', () => {
  const group = service.one('AWS::Scheduler::ScheduleGroup', 'Timers').Properties;
  const role = service.one('AWS::IAM::Role', 'TimersRole').Properties;
  const [trust] = role.AssumeRolePolicyDocument.Statement;
  const passing = nonEmpty(service.of('AWS::IAM::Role')).flatMap(({ Properties }) =>
    (Properties.Policies?.[0]?.PolicyDocument.Statement ?? []).filter(
      ({ Action }: { Action: unknown }) => Action === 'iam:PassRole',
    ),
  );

  expect(group.Name).toBe('model-project-service');
  expect(role.RoleName).toBe('model-project-service-timers-eu-central-1');
  expect(trust.Principal).toEqual({ Service: 'scheduler.amazonaws.com' });
  expect(trust.Condition.StringEquals['aws:SourceAccount']).toEqual({ Ref: 'AWS::AccountId' });
  expect(JSON.stringify(trust.Condition.StringEquals['aws:SourceArn'])).toContain(
    ':schedule-group/model-project-service',
  );
  const [start, ...others] = role.Policies[0].PolicyDocument.Statement;
  expect(others).toEqual([]);
  expect(start.Action).toBe('lambda:InvokeFunction');
  expect(JSON.stringify(start.Resource)).toContain(':function:model-project-service-schedules');
  for (const { Resource, Condition } of nonEmpty(passing)) {
    expect(JSON.stringify(Resource)).toContain(':role/model-project-service-timers-eu-central-1');
    expect(Condition).toEqual({ StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } });
  }
});
