import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { newId } from '../../../shared/core/new-id.ts';

const Keys = z.array(z.object({ pk: z.string(), sk: z.string() }));
const Item = z.looseObject({ pk: z.string(), sk: z.string() });

/** Keys that the bare server reads and writes, on one line of stdin. */
export const BareOptions = z.object({
  endpoint: z.url(),
  accountsTable: z.string(),
  recordsTable: z.string(),
  /** Token and user. */
  caller: Keys,
  /** Items of one project. */
  project: Keys,
  /** Partition of all projects. */
  projects: z.string(),
  /** Items of the project `createdId`, as a template for new ones. */
  created: z.array(Item),
  createdId: z.string(),
});
export type BareOptions = z.infer<typeof BareOptions>;

/**
 * The minimum of a service on DynamoDB: `node:http`, the same reads and writes by the SDK, and JSON.stringify. No
 * routing, parsing, checking or formatting.
 */
function bareServer(options: BareOptions) {
  const { endpoint, accountsTable, recordsTable, caller, project, projects, created, createdId } = options;
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ region: 'us-east-1', endpoint, credentials }),
    {
      marshallOptions: { removeUndefinedValues: true },
    },
  );

  const batchGet = async (table: string, Keys: BareOptions['project']) => {
    const RequestItems = { [table]: { Keys, ConsistentRead: true } };
    const { Responses } = await client.send(new BatchGetCommand({ RequestItems }));
    return Responses?.[table] ?? [];
  };

  const list = async () => {
    const { Items } = await client.send(
      new QueryCommand({
        TableName: recordsTable,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': projects },
        ScanIndexForward: false,
        Limit: 100,
      }),
    );
    return Items;
  };

  const create = async () => {
    const id = newId();
    const items = created.map((item) => ({
      ...item,
      pk: item.pk.replace(createdId, id),
      sk: item.sk.replace(createdId, id),
    }));
    const TransactItems = items.map((item, index) => ({
      Put: {
        TableName: recordsTable,
        Item: item,
        ...(index === 0 && { ConditionExpression: 'attribute_not_exists(pk)' }),
      },
    }));
    await client.send(new TransactWriteCommand({ ClientRequestToken: id, TransactItems }));
    return items[0];
  };

  const answer = async (url: string | undefined, response: ServerResponse) => {
    const found = await batchGet(accountsTable, caller);
    if (found.length !== caller.length) return response.writeHead(401).end();
    const work = url === '/list' ? list : url === '/create' ? create : () => batchGet(recordsTable, project);
    const body = JSON.stringify(await work());
    return response
      .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  };

  return createServer((request, response) => {
    answer(request.url, response).catch((error: unknown) => {
      process.stderr.write(`bare server: ${error instanceof Error ? error.message : String(error)}\n`);
      response.writeHead(500).end();
    });
  });
}

const server = bareServer(BareOptions.parse(JSON.parse(await text(process.stdin))));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') process.stdout.write(`${address.port}\n`);
});
