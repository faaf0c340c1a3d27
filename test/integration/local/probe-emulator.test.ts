import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { probeEmulator } from '../../../infra/local/dynamodb/probe-emulator.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { testCredentials } from '../../support/emulators.ts';

type Body = Record<string, unknown>;
/** Changes what reaches the emulator, or what it answers; an operation is such as `Query`. */
interface Lack {
  request?: (operation: string, body: Body) => Body;
  answer?: (operation: string, body: Body) => Body;
}

describe('a DynamoDB emulator is tried before it gets data', () => {
  let emulator: Awaited<ReturnType<typeof startDynamoDb>>;
  let server: Server | undefined;
  let client: DynamoDBClient;
  beforeAll(async () => {
    emulator = await startDynamoDb();
  });
  afterEach(() => {
    client.destroy();
    server?.close();
  });
  afterAll(() => emulator.close());

  /** A client of the emulator with something wrong between them. */
  async function clientWith({ request, answer }: Lack): Promise<DynamoDBClient> {
    server = createServer(async (message, response) => {
      const operation = String(message.headers['x-amz-target']).split('.')[1] ?? '';
      const body = JSON.parse((await buffer(message)).toString());
      const { host: _, 'content-length': __, ...headers } = message.headers as Record<string, string>;
      const sent = JSON.stringify(request?.(operation, body) ?? body);
      const answered = await fetch(emulator.url, { method: 'POST', headers, body: sent });
      const given = (await answered.json()) as Body;
      response.writeHead(answered.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(answer?.(operation, given) ?? given));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('no port');
    return newClient(`http://127.0.0.1:${address.port}`);
  }
  const newClient = (endpoint: string) =>
    new DynamoDBClient({ endpoint, region: 'eu-central-1', credentials: testCredentials, maxAttempts: 1 });

  test('the embedded one fits, and nothing is left of the trial', async () => {
    client = newClient(emulator.url);
    await probeEmulator(client, 'embedded');
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  });

  test.each<[what: string, lack: Lack, message: RegExp]>([
    [
      'that forgets client tokens',
      { request: (_, { ClientRequestToken: __, ...body }) => body },
      /^The DynamoDB emulator odd 1 does not support this service: a transaction that is sent again with its client token is executed again\. Set DYNAMODB_ENDPOINT to another/,
    ],
    [
      'that does not say which condition failed',
      { answer: (_, { CancellationReasons: __, ...body }) => body },
      /does not name the write whose condition failed\./,
    ],
    [
      'that answers queries late',
      { answer: (operation, body) => (operation === 'Query' ? { ...body, Items: [] } : body) },
      /a consistent query misses earlier writes\./,
    ],
    [
      'that lets nothing expire',
      { answer: (operation, body) => (operation === 'DescribeTimeToLive' ? {} : body) },
      /items do not expire by an attribute\./,
    ],
  ])('one %s is refused with the reason', async (_, lack, message) => {
    client = await clientWith(lack);
    await expect(probeEmulator(client, 'odd 1')).rejects.toThrow(message);
  });

  test('one that answers something else is refused in one sentence', async () => {
    client = await clientWith({ answer: () => ({ __type: 'Odd', message: 'what?' }) });
    await expect(probeEmulator(client, 'odd 1')).rejects.toThrow(/does not support this service: /);
  });
});
