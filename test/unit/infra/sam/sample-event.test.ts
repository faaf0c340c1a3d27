import { expect, test } from 'vitest';
import { endpoint as readExperiment } from '../../../../functions/experiments/records/read-experiment.endpoint.ts';
import { sampleEvent } from '../../../../infra/tools/sam/sam-options.ts';

const request = { operation: 'x', path: {}, query: '', body: undefined, token: undefined };

test('an event has the variables of the route by position, and samples for those not given', () => {
  const event = sampleEvent(readExperiment, { ...request, path: { experiment_id: 'a/b' }, token: 't' });
  expect(event).toMatchObject({
    resource: '/projects/{p1}/experiments/{p3}',
    path: '/projects/01jgk7y4m8s2v6x0b3n9q5r1tz/experiments/a%2Fb',
    pathParameters: { p1: '01jgk7y4m8s2v6x0b3n9q5r1tz', p3: 'a%2Fb' },
    httpMethod: 'GET',
    body: null,
  });
  expect(event.headers).toMatchObject({ Authorization: 'Bearer t' });
});

test.each([
  ['{"a":1}', 'application/json'],
  ['a=1', 'application/x-www-form-urlencoded'],
])('the body %s is sent as %s', (body, mediaType) => {
  const event = sampleEvent(readExperiment, { ...request, body });
  expect(event).toMatchObject({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true });
  expect(event.headers).toMatchObject({ 'Content-Type': mediaType });
});

test('a variable that the path does not have is refused', () => {
  expect(() => sampleEvent(readExperiment, { ...request, path: { wrong: 'x' } })).toThrow(
    'no variable wrong',
  );
});
