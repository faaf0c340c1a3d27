import { expect, test } from 'vitest';
import { requireDocumented } from '../../../support/documented-answer.ts';

const type = (text: string) => ({ 'content-type': text });
const start = { method: 'GET', path: '/v2' } as const;
const asked = { method: 'GET', path: '/v2' };
const served = { method: 'ANY', path: '/v2/{v2_path+}' } as const;
const model = { method: 'GET', path: '/v2/models/digits.onnx/ready' };
const good = { name: 'm', version: '1', extensions: [] };

test('an answer as the OpenAPI document says it passes', async () => {
  const ready = { status: 200, headers: type('application/json'), json: good };
  const unknown = {
    status: 404,
    headers: type('application/json'),
    json: { error: 'There is no such model.' },
  };

  await expect(requireDocumented(start, asked, ready)).resolves.toBeUndefined();
  await expect(requireDocumented(served, model, unknown)).resolves.toBeUndefined();
});

test.each([
  ['another status', 418, 'application/json', good, 'answered 418'],
  ['another type', 200, 'text/html', undefined, 'as text/html'],
  ['another schema', 200, 'application/json', { name: 3 }, 'is not documented'],
])('%s is a deviation', async (_, status, mediaType, json, message) => {
  await expect(requireDocumented(start, asked, { status, headers: type(mediaType), json })).rejects.toThrow(
    message,
  );
});

test('a problem document is none of the errors of served models', async () => {
  const answer = { status: 404, headers: type('application/problem+json'), json: {} };

  await expect(requireDocumented(served, model, answer)).rejects.toThrow('as application/problem+json');
});
