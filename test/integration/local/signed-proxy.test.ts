import { request } from 'node:http';
import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  QueryCommand,
  ScanCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { tableArn } from '../../../infra/local/access/is-allowed.ts';
import { sessionCredentials } from '../../../infra/local/access/session-credentials.ts';
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts';
import { type RunningProxy, startSignedProxy } from '../../../infra/local/dynamodb/signed-proxy.ts';
import { roleStatements } from '../../../infra/service/iam-statements.ts';
import { within } from '../../../shared/core/needs.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';

const region = 'us-east-1';
const credentials = { accessKeyId: 'LOCALKEY', secretAccessKey: 'local-secret' };
let proxy: RunningProxy;

beforeAll(async () => {
  const { hostname: host, port } = new URL(inject('dynamoDbUrl'));
  proxy = await startSignedProxy({
    host: '127.0.0.1',
    emulator: { host, port: Number(port) },
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

describe('a role that is held to some partitions', () => {
  const table = `granted-${Date.now()}`;
  const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 's' } });
  const arns = {
    accounts: tableArn('other'),
    records: tableArn(table),
    bucket: '',
    submissions: [],
    jobs: [],
    deployment: '',
  };
  const need = within(writeRecords, { partitions: ['JOB#*', 'LIMITS'], checked: ['PROJECTS'] });
  const session = sessionCredentials(credentials, roleStatements([need], arns));
  let client: DynamoDBClient;

  beforeAll(async () => {
    client = new DynamoDBClient({ region, credentials: session, endpoint: proxy.url, maxAttempts: 1 });
    const owner = new DynamoDBClient({ region, credentials, endpoint: proxy.url });
    await createTables(owner, [table]);
    owner.destroy();
  });
  afterAll(() => client.destroy());

  const put = (pk: string): TransactWriteItem => ({ Put: { TableName: table, Item: key(pk) } });
  const check = (pk: string): TransactWriteItem => ({
    ConditionCheck: { TableName: table, Key: key(pk), ConditionExpression: 'attribute_not_exists(pk)' },
  });
  const transact = (...items: TransactWriteItem[]) =>
    client.send(new TransactWriteItemsCommand({ TransactItems: items }));
  const query = (pk: string) =>
    client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': { S: pk }, ':prefix': { S: 's' } },
      }),
    );
  const batchGet = (...partitions: string[]) =>
    client.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys: partitions.map(key) } } }));

  test('may do what it grants', async () => {
    await transact(put('JOB#1'), put('LIMITS'), check('PROJECTS'));
    expect((await query('JOB#1')).Count).toBe(1);
    expect((await batchGet('JOB#1', 'LIMITS')).Responses?.[table]).toHaveLength(2);
    const got = await client.send(new GetItemCommand({ TableName: table, Key: key('JOB#1') }));
    expect(got.Item).toEqual(key('JOB#1'));
  });

  test.each<[string, () => Promise<unknown>]>([
    ['reads another partition', () => query('USERS')],
    ['reads one of several that are another', () => batchGet('JOB#1', 'PROJECTS')],
    [
      'gets an item of another',
      () => client.send(new GetItemCommand({ TableName: table, Key: key('USERS') })),
    ],
    ['writes to another in a transaction', () => transact(put('JOB#2'), put('PROJECTS'))],
    ['reads the whole table', () => client.send(new ScanCommand({ TableName: table }))],
    ['reads another table', () => client.send(new GetItemCommand({ TableName: 'x', Key: key('JOB#1') }))],
    ['lists tables', () => client.send(new ListTablesCommand({}))],
  ])('is refused where it %s', async (_, act) => {
    await expect(act()).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  test('cannot be made up by who does not know the secret', async () => {
    const forged = { ...session, sessionToken: Buffer.from('[]').toString('base64url') };
    const stranger = new DynamoDBClient({ region, credentials: forged, endpoint: proxy.url, maxAttempts: 1 });
    const asked = stranger.send(new ListTablesCommand({})).finally(() => stranger.destroy());
    await expect(asked).rejects.toMatchObject({ name: 'InvalidSignatureException' });
  });
});
