import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startRelay } from '../../../infra/local/dynamodb/relay.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import fc, { anyText, runs } from '../../support/seeded-fast-check.ts';
import { testEnvironment } from '../../support/service.ts';

let folder: string;
let stopRelay: () => Promise<void>;
let TableName: string;
/** A client as the service has it on one machine, and one that always uses the SDK. */
let plain: DynamoDBDocumentClient;
let sdk: DynamoDBDocumentClient;
/** Commands that the plain client left to the SDK. */
const leftToSdk: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dynamodb-fast-path-'));
  const environment = await testEnvironment();
  const { DYNAMODB_ENDPOINT: endpoint = '', AWS_REGION: region = '', RECORDS_TABLE = '' } = environment;
  TableName = RECORDS_TABLE;
  const socket = join(folder, 'socket');
  stopRelay = await startRelay({ socket, port: Number(new URL(endpoint).port) });
  plain = dynamoDb({ ...environment, DYNAMODB_ENDPOINT: `unix:${socket}` });
  plain.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        leftToSdk.push(commandName);
        return next(args);
      },
    { step: 'initialize' },
  );
  const marshallOptions = { removeUndefinedValues: true, convertClassInstanceToMap: true };
  sdk = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region }), { marshallOptions });
});

beforeEach(() => {
  leftToSdk.length = 0;
});

afterAll(async () => {
  plain.destroy();
  sdk.destroy();
  await stopRelay();
  await rm(folder, { recursive: true, force: true });
});

const put = (client: DynamoDBDocumentClient, Item: Record<string, unknown>) =>
  client.send(new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item } }] }));

async function get(client: DynamoDBDocumentClient, sk: string) {
  const Key = { pk: 'PLAIN', sk };
  return (await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
}

const name = fc.oneof(anyText({ minLength: 1, maxLength: 8 }), fc.constant('constructor'));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    anyText({ maxLength: 20 }),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.maxSafeInteger(),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((number) => number / 1024),
    fc.uint8Array({ minLength: 1, maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test('a table holds the same items, whether the SDK or the plain sender writes and reads them', async () => {
  await fc.assert(
    fc.asyncProperty(anyValue, async (value) => {
      await Promise.all([
        put(plain, { pk: 'PLAIN', sk: 'plain', value }),
        put(sdk, { pk: 'PLAIN', sk: 'sdk', value }),
      ]);

      const read = await Promise.all([
        get(plain, 'plain'),
        get(sdk, 'plain'),
        get(plain, 'sdk'),
        get(sdk, 'sdk'),
      ]);

      // A parameter may be named `constructor`, by which vitest compares types.
      const values = read.map((item) => item?.['value']);
      expect(values.map((one) => isDeepStrictEqual(one, values[3]))).toEqual([true, true, true, true]);
    }),
    { numRuns: runs(400) },
  );
  expect(leftToSdk).toEqual([]);
});

test('queries and batches are answered without the SDK, page by page', async () => {
  for (const sk of ['1', '2', '3']) await put(plain, { pk: 'PAGES', sk, size: Number(sk) });
  const query = {
    TableName,
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': 'PAGES' },
  };

  const first = await plain.send(new QueryCommand({ ...query, Limit: 2 }));
  const rest = await plain.send(new QueryCommand({ ...query, ExclusiveStartKey: first.LastEvaluatedKey }));
  const counted = await plain.send(new QueryCommand({ ...query, Select: 'COUNT' }));
  const Keys = ['3', 'absent', '1'].map((sk) => ({ pk: 'PAGES', sk }));
  const batch = await plain.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));

  expect(first.Items?.map(({ size }) => size)).toEqual([1, 2]);
  expect(rest.Items).toEqual([{ pk: 'PAGES', sk: '3', size: 3 }]);
  expect(counted).toMatchObject({ Count: 3 });
  expect(batch.Responses?.[TableName]?.map(({ sk }) => sk).sort()).toEqual(['1', '3']);
  expect(batch.UnprocessedKeys).toEqual({});
  expect(leftToSdk).toEqual([]);
});

test('the SDK sends values that are not plain, and refuses those that it refuses', async () => {
  await put(plain, { pk: 'PLAIN', sk: 'set', value: new Set(['a', 'b']) });

  const item = await get(plain, 'set');

  expect(item?.['value']).toEqual(new Set(['a', 'b']));
  await expect(put(plain, { pk: 'PLAIN', sk: 'nan', value: Number.NaN })).rejects.toThrow(/NaN/);
  expect(leftToSdk).toEqual(['TransactWriteItemsCommand', 'GetItemCommand', 'TransactWriteItemsCommand']);
});

test('a cancelled transaction fails with the error of the SDK, which names the condition', async () => {
  await put(plain, { pk: 'PLAIN', sk: 'present' });
  const Put = {
    TableName,
    Item: { pk: 'PLAIN', sk: 'present' },
    ConditionExpression: 'attribute_not_exists(pk)',
  };

  const sent = plain.send(new TransactWriteCommand({ TransactItems: [{ Put }] }));

  await expect(sent).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
  });
});

/** A server on a Unix socket that hands requests on and breaks the connection in the place of the first answer. */
async function losingFirstAnswer(socketPath: string, url: string): Promise<Server> {
  let isLost = false;
  const server = createServer((message, response) => {
    const onward = request(url, { method: 'POST', headers: message.headers }, (answer) => {
      if (isLost) {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
        return;
      }
      isLost = true;
      answer.resume().once('end', () => message.socket.destroy());
    });
    message.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return server;
}

test('a transaction whose answer is lost takes effect once', async () => {
  const environment = await testEnvironment();
  const table = environment['RECORDS_TABLE'] ?? '';
  const socket = join(folder, 'losing');
  const server = await losingFirstAnswer(socket, environment['DYNAMODB_ENDPOINT'] ?? '');
  const losing = dynamoDb({ ...environment, DYNAMODB_ENDPOINT: `unix:${socket}` });
  const Update = {
    TableName: table,
    Key: { pk: 'COUNT', sk: '1' },
    UpdateExpression: 'ADD written :one',
    ExpressionAttributeValues: { ':one': 1 },
  };

  await losing.send(new TransactWriteCommand({ ClientRequestToken: 'once', TransactItems: [{ Update }] }));

  const { Item } = await losing.send(new GetCommand({ TableName: table, Key: Update.Key }));
  expect(Item).toMatchObject({ written: 1 });
  losing.destroy();
  server.closeAllConnections();
  server.close();
});
