import { request } from 'node:http';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type RunningProxy, startSignedProxy } from '../../../infra/local/dynamodb/signed-proxy.ts';

const region = 'us-east-1';
const credentials = { accessKeyId: 'LOCALKEY', secretAccessKey: 'local-secret' };
let proxy: RunningProxy;

beforeAll(async () => {
  const { hostname: host, port } = new URL(inject('dynamoDbUrl'));
  proxy = await startSignedProxy({
    host: '127.0.0.1',
    engine: { host, port: Number(port) },
    region,
    credentials,
  });
});

afterAll(() => proxy.close());

const listTables = (given: typeof credentials, inRegion = region) => {
  const client = new DynamoDBClient({
    region: inRegion,
    credentials: given,
    endpoint: proxy.url,
    maxAttempts: 1,
  });
  return client.send(new ListTablesCommand({})).finally(() => client.destroy());
};

interface Answer {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

function send(method: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(proxy.url, { method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, headers: response.headers, text });
    })
      .once('error', reject)
      .end();
  });
}

const ofAPage = {
  origin: 'http://elsewhere.example',
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-target': 'DynamoDB_20120810.ListTables',
};

test('serves who signs with its credentials', async () => {
  expect((await listTables(credentials)).TableNames).toBeInstanceOf(Array);
});

test.each([
  ['another secret', { ...credentials, secretAccessKey: 'guessed' }, region],
  ['another key', { ...credentials, accessKeyId: 'OTHER' }, region],
  ['another region', credentials, 'eu-west-1'],
])('refuses %s', async (_, given, inRegion) => {
  await expect(listTables(given, inRegion)).rejects.toMatchObject({ $metadata: { httpStatusCode: 400 } });
});

test.each(['OPTIONS', 'POST', 'GET'])('lets no page read or change anything by %s', async (method) => {
  const answer = await send(method, { ...ofAPage, 'access-control-request-method': 'POST' });
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect(answer.text).toContain('MissingAuthenticationToken');
});

test('refuses a body that is not the signed one', async () => {
  const client = new DynamoDBClient({ region, credentials, endpoint: proxy.url, maxAttempts: 1 });
  client.middlewareStack.add(
    (next) => (step) => {
      const message = step.request as { body: string };
      return next({ ...step, request: Object.assign(message, { body: '{"Limit":1}' }) });
    },
    // After the signature.
    { step: 'finalizeRequest', priority: 'low' },
  );
  await expect(client.send(new ListTablesCommand({ Limit: 2 }))).rejects.toMatchObject({
    name: 'InvalidSignatureException',
  });
  client.destroy();
});
