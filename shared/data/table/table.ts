import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { throwIfStopped } from '../../core/stop-signal.ts';
import type { Change, Condition } from './condition.ts';
import { gatheredReads } from './gathered-reads.ts';
import { type Item, type Key, requireItem } from './item.ts';
import type { UnreadableRecordError } from './unreadable-record.ts';
import type { WriteLabel } from './write-label.ts';

export type { Item, Key } from './item.ts';

/** The two tables: `accounts` (users, tokens) and `records` (everything else); jobs never reach `accounts`. */
export type TableName = 'accounts' | 'records';

export interface Page<T> {
  items: T[];
  /** Sort key to go on after; undefined at the end. */
  next: string | undefined;
  /** Records of the page that this version of the service cannot read; absent where it reads all. */
  unreadable?: readonly UnreadableRecordError[];
}

export interface PartitionQuery {
  pk: string;
  /** Only sort keys that start with this. */
  prefix?: string;
  /** Sort key to go on after, in the direction of the query; need not exist. */
  after?: string | undefined;
  descending?: boolean;
  limit?: number;
}

/** One write of a transaction. */
export type Write = (
  | { put: Item; if?: Condition }
  | { update: Key; change: Change; if?: Condition }
  | { delete: Key; if?: Condition }
  | { check: Key; if: Condition }
) & { label?: WriteLabel };

/** Reads of one table. All reads are strongly consistent. */
export interface TableReader<N extends TableName> {
  readonly name: N;
  get(key: Key): Promise<Item | undefined>;
  /** The items of keys, in their order. */
  batchGet(keys: readonly Key[]): Promise<(Item | undefined)[]>;
  query(query: PartitionQuery): Promise<Page<Item>>;
  /** How many items a partition has, of which no more than `most` are counted. They are read, but not sent. */
  count(pk: string, most: number): Promise<number>;
}

/** Reads and writes of one table. */
export interface TableWriter<N extends TableName> extends TableReader<N> {
  readonly writable: true;
  /**
   * Does all writes or none, exactly once also when replies get lost. At most 100 writes.
   * @throws ConditionFailedError when a condition does not hold; it names the labels of these writes
   */
  write(...writes: readonly Write[]): Promise<void>;
}

/** Reader of the table that is deployed as `tableName`. */
export function tableReader<N extends TableName>(
  client: DynamoDBDocumentClient,
  name: N,
  tableName: string,
): TableReader<N> {
  const read = gatheredReads(client, tableName);
  return {
    name,
    async get(key) {
      throwIfStopped();
      return read(key);
    },

    async batchGet(keys) {
      throwIfStopped();
      return Promise.all(keys.map(read));
    },

    async query({ pk, prefix, after, descending = false, limit }) {
      throwIfStopped();
      const answer = await client.send(
        new QueryCommand({
          TableName: tableName,
          ConsistentRead: true,
          KeyConditionExpression: prefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':pk': pk, ...(prefix !== undefined && { ':prefix': prefix }) },
          ScanIndexForward: !descending,
          ...(after !== undefined && { ExclusiveStartKey: { pk, sk: after } }),
          ...(limit !== undefined && { Limit: limit }),
        }),
      );
      const next: unknown = answer.LastEvaluatedKey?.['sk'];
      return {
        items: (answer.Items ?? []).map(requireItem),
        next: typeof next === 'string' ? next : undefined,
      };
    },

    async count(pk, most) {
      let counted = 0;
      let last: Record<string, unknown> | undefined;
      do {
        throwIfStopped();
        const answer = await client.send(
          new QueryCommand({
            TableName: tableName,
            ConsistentRead: true,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': pk },
            Select: 'COUNT',
            Limit: most - counted,
            ...(last !== undefined && { ExclusiveStartKey: last }),
          }),
        );
        counted += answer.Count ?? 0;
        last = answer.LastEvaluatedKey;
      } while (last !== undefined && counted < most);
      return counted;
    },
  };
}
