import { randomUUID } from 'node:crypto';
import {
  DeleteTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { CommandError } from '../../command/command-error.ts';
import { createTables } from './create-tables.ts';

/**
 * Test the features that the service relies on, in a temporary table: consistent queries, transactions with client
 * tokens and with reasons for each write, and expiry of items.
 *
 * @param emulator - the emulator's display name, such as `@dynoxide/linux-arm64 1.2.1`
 * @throws CommandError with everything that the emulator lacks
 */
export async function probeEmulator(client: DynamoDBClient, emulator: string): Promise<void> {
  const table = `probe-${randomUUID()}`;
  const lacks: string[] = [];
  try {
    await createTables(client, [table]);
    for (const { lack, holds } of probes) {
      const found = await holds(client, table).catch((error: unknown) => `${lack} (${String(error)})`);
      if (found !== true) lacks.push(typeof found === 'string' ? found : lack);
    }
  } catch (error) {
    lacks.push(`no table can be created (${String(error)})`);
  } finally {
    await client.send(new DeleteTableCommand({ TableName: table })).catch(() => undefined);
  }
  if (lacks.length === 0) return;
  throw new CommandError(
    `The DynamoDB emulator ${emulator} does not support this service: ${lacks.join('; ')}. Set DYNAMODB_ENDPOINT to another emulator, such as Amazon's DynamoDB Local.`,
  );
}

const probes: readonly Probe[] = [
  {
    lack: 'a consistent query misses earlier writes',
    async holds(client, TableName) {
      await client.send(new PutItemCommand({ TableName, Item: key('written') }));
      return (await skOfItems(client, TableName)).includes('written');
    },
  },
  {
    lack: 'a transaction that is sent again with its client token is executed again',
    async holds(client, TableName) {
      const again = { ClientRequestToken: randomUUID(), TransactItems: [putOnce(TableName, 'once')] };
      await client.send(new TransactWriteItemsCommand(again));
      const isRefused = (error: unknown) => {
        if (error instanceof TransactionCanceledException) return true;
        throw error;
      };
      return !(await client.send(new TransactWriteItemsCommand(again)).then(() => false, isRefused));
    },
  },
  {
    lack: 'a cancelled transaction does not name the write whose condition failed',
    async holds(client, TableName) {
      const TransactItems = [putOnce(TableName, 'beside'), putOnce(TableName, 'written')];
      const reasons = await client.send(new TransactWriteItemsCommand({ TransactItems })).then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof TransactionCanceledException) return error.CancellationReasons ?? [];
          throw error;
        },
      );
      return reasons?.[0]?.Code === 'None' && reasons[1]?.Code === 'ConditionalCheckFailed';
    },
  },
  {
    lack: 'a cancelled transaction keeps some of its writes',
    holds: async (client, TableName) => !(await skOfItems(client, TableName)).includes('beside'),
  },
  {
    lack: 'items do not expire by an attribute',
    async holds(client, TableName) {
      const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
      return TimeToLiveDescription?.AttributeName === 'ttl';
    },
  },
];

interface Probe {
  /** The missing feature if the check fails, for people. */
  lack: string;
  holds(client: DynamoDBClient, TableName: string): Promise<boolean>;
}

const key = (sk: string) => ({ pk: { S: 'probe' }, sk: { S: sk } });

async function skOfItems(client: DynamoDBClient, TableName: string): Promise<(string | undefined)[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'probe' } },
    }),
  );
  return Items.map(({ sk }) => sk?.S);
}

/** Make a write that fails if repeated with the same key, unless the emulator recognizes its client token. */
const putOnce = (TableName: string, sk: string): TransactWriteItem => ({
  Put: { TableName, Item: key(sk), ConditionExpression: 'attribute_not_exists(pk)' },
});
