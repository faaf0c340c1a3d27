import { expect, test } from 'vitest';
import { nonEmpty } from '../../support/non-empty.ts';
import { deployment, equipped } from './synthesized.ts';

const service = await deployment(equipped);
const plain = await deployment();

const rolesThatPublish = () =>
  service.of('AWS::IAM::Role').flatMap(({ id, Properties }) => {
    const { Statement } = Properties.Policies?.[0]?.PolicyDocument ?? { Statement: [] };
    return Statement.filter(({ Action }: { Action: unknown }) => JSON.stringify(Action).includes('sns:')).map(
      ({ Action, Resource }: { Action: unknown; Resource: unknown }) => ({ id, Action, Resource }),
    );
  });

test('mails of hooks go to a topic with the addresses of the deployment, which its variable names', () => {
  const topic = service.one('AWS::SNS::Topic', 'HookMail');
  const subscriptions = service
    .of('AWS::SNS::Subscription')
    .filter(({ Properties }) => Properties.TopicArn.Ref === topic.id);
  const { MAIL_TOPIC } = service.one('AWS::Lambda::Function', 'testHookFunction').Properties.Environment
    .Variables;

  expect(topic.Properties).toEqual({
    TopicName: 'model-project-service-hooks',
    Tags: [{ Key: 'service', Value: 'model-project-service' }],
  });
  expect(subscriptions.map(({ Properties: { Protocol, Endpoint } }) => [Protocol, Endpoint])).toEqual([
    ['email', 'ada@example.org'],
    ['email', 'grace@example.org'],
  ]);
  expect(JSON.stringify(MAIL_TOPIC)).toMatch(/arn:.*:sns:.*:model-project-service-hooks"/);
});

test('only the functions that send messages of hooks may publish, and only to that topic', () => {
  const found = rolesThatPublish();
  const roles = new Set(found.map(({ id }) => id));
  const functions = service
    .of('AWS::Lambda::Function')
    .filter(({ Properties }) => roles.has(Properties.Role['Fn::GetAtt'][0]))
    .map(({ id }) => /^[a-zA-Z]+(?=Function)/.exec(id)?.[0])
    .sort();

  expect(functions).toEqual(['backgroundPass', 'jobStateChanged', 'notify', 'redeliverMessage', 'testHook']);
  for (const { Action, Resource } of nonEmpty(found)) {
    expect(Action).toBe('sns:Publish');
    expect(JSON.stringify(Resource)).toMatch(/:sns:.*:model-project-service-hooks"/);
  }
});

test('without addresses there is no topic, and nobody may publish', () => {
  expect(plain.of('AWS::SNS::Topic')).toEqual([]);
  expect(JSON.stringify(plain.resources)).not.toMatch(/sns:|MAIL_TOPIC/);
});
