import { setImmediate } from 'node:timers';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
} from '@aws-sdk/lib-dynamodb';
import { throwIfStopped } from '../../core/stop-signal.ts';
import type { Change, Condition } from './condition.ts';
import { canHold, type Item, itemName, type Key, requireItem, UnreadableRecordError } from './item.ts';
import { TableBusyError } from './retry-on-conflict.ts';
import type { WriteLabel } from './write-label.ts';

export type { Item, Key } from './item.ts';

/**
 * Names of the two tables: `accounts` (users, tokens) and `records` (all other data). Jobs have no access to
 * `accounts`.
 */
export type TableName = 'accounts' | 'records';

export interface Page<T> {
  items: T[];
  /** Sort key after which the next page starts. Undefined at the end. */
  next: string | undefined;
  /** Records of the page that this version of the service cannot read. Absent if it can read all. */
  unreadable?: readonly UnreadableRecordError[];
}

type PartitionQuery = SortKeys & {
  pk: string;
  /** Sort key after which the page starts, in the direction of the query. It need not exist. */
  after?: string | undefined;
  descending?: boolean;
  limit?: number;
};

/** Sort keys of a query: all, those with a prefix, or those above or below a key. */
type SortKeys =
  | { prefix?: string; above?: never; below?: never }
  | { prefix?: never; above?: string; below?: never }
  | { prefix?: never; above?: never; below?: string };

/** One write of a transaction. */
export type Write = (
  | { put: Item; if?: Condition }
  | { update: Key; change: Change; if?: Condition }
  | { delete: Key; if?: Condition }
  | { check: Key; if: Condition }
) & { label?: WriteLabel };

/** Return the key of the item that a write is about. */
export const keyOf = (write: Write): Key =>
  'put' in write
    ? write.put
    : 'update' in write
      ? write.update
      : 'delete' in write
        ? write.delete
        : write.check;

/** Reads of one table. All reads but `peek` are strongly consistent. */
export interface TableReader<N extends TableName> {
  readonly name: N;
  get(key: Key): Promise<Item | undefined>;
  /** Like `get`, but what was written a moment ago may be missing. It costs half as much. */
  peek(key: Key): Promise<Item | undefined>;
  /** Return the items of the keys, in the order of the keys. */
  batchGet(keys: readonly Key[]): Promise<(Item | undefined)[]>;
  query(query: PartitionQuery): Promise<Page<Item>>;
  /** Count the items of a partition, up to `most`. DynamoDB reads the items but does not send them. */
  count(pk: string, most: number): Promise<number>;
}

/** Reads and writes of one table. */
export interface TableWriter<N extends TableName> extends TableReader<N> {
  readonly writable: true;
  /**
   * Do all writes or none, exactly once even if replies get lost. At most 100 writes.
   * @throws ConditionFailedError if a condition does not hold; it names the labels of the failed writes
   */
  write(...writes: readonly Write[]): Promise<void>;
}

/**
 * Return the reader of the table that is deployed as `tableName`. Each client has one reader of a table, because
 * `recent-values.ts` keeps values by reader.
 */
export function tableReader<N extends TableName>(
  client: DynamoDBDocumentClient,
  name: N,
  tableName: string,
): TableReader<N> {
  const readers = tables.get(client) ?? new Map<string, TableReader<TableName>>();
  tables.set(client, readers);
  const reader = readers.get(tableName) ?? newReader(client, name, tableName);
  readers.set(tableName, reader);
  // A deployed table always has the same name.
  return reader as TableReader<N>;
}

const tables = new WeakMap<DynamoDBDocumentClient, Map<string, TableReader<TableName>>>();

function newReader<N extends TableName>(
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

    async peek({ pk, sk }) {
      throwIfStopped();
      if (!canHold({ pk, sk })) return undefined;
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: { pk, sk } }));
      return Item === undefined ? undefined : requireItem(Item);
    },

    async batchGet(keys) {
      throwIfStopped();
      return Promise.all(keys.map(read));
    },

    async query({ pk, prefix, after, above, below, descending = false, limit }) {
      throwIfStopped();
      const range = rangeOf({ prefix, above, below });
      const answer = await client.send(
        new QueryCommand({
          TableName: tableName,
          ConsistentRead: true,
          KeyConditionExpression: ['pk = :pk', ...range.conditions].join(' AND '),
          ExpressionAttributeValues: { ':pk': pk, ...range.values },
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

/** Maximum keys in one BatchGetItem request. */
const maxKeys = 100;
const rounds = 5;

/** Read the item of a key, strongly consistently. Return undefined if it does not exist. */
type ReadItem = (key: Key) => Promise<Item | undefined>;

interface Wanted {
  table: string;
  key: Key;
  found: PromiseWithResolvers<Item | undefined>;
}

const nameOf = (table: string, key: Key): string => `${table}\n${itemName(key)}`;

const byTable = (wanted: readonly Wanted[]): [string, Wanted[]][] => [
  ...Map.groupBy(wanted, ({ table }) => table),
];

const keysOf = (wanted: readonly Wanted[]): BatchGetCommandInput['RequestItems'] =>
  Object.fromEntries(
    byTable(wanted).map(([table, some]) => [
      table,
      { Keys: some.map(({ key: { pk, sk } }) => ({ pk, sk })), ConsistentRead: true },
    ]),
  );

/** Create a function that reads items from all tables of a client. */
function readerOf(client: DynamoDBDocumentClient): (table: string, key: Key) => Promise<Item | undefined> {
  let wanted = new Map<string, Wanted>();

  async function readOne({ table: TableName, key: { pk, sk } }: Wanted): Promise<Item | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }));
    return Item === undefined ? undefined : requireItem(Item);
  }

  async function readMany(some: readonly Wanted[]): Promise<Map<string, Item>> {
    const found = new Map<string, Item>();
    let left = keysOf(some);
    for (let round = 0; Object.keys(left ?? {}).length > 0; round += 1) {
      if (round === rounds) throw new TableBusyError('the table did not return all keys of a batch');
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 20 * 2 ** round));
      const answer = await client.send(new BatchGetCommand({ RequestItems: left }));
      for (const [table, values] of Object.entries(answer.Responses ?? {})) {
        for (const value of values) {
          const item = requireItem(value);
          found.set(nameOf(table, item), item);
        }
      }
      left = answer.UnprocessedKeys;
    }
    return found;
  }

  async function read(some: readonly Wanted[]): Promise<void> {
    const [only] = some;
    try {
      if (some.length === 1 && only !== undefined) return only.found.resolve(await readOne(only));
      const items = await readMany(some);
      for (const { table, key, found } of some) found.resolve(items.get(nameOf(table, key)));
    } catch (error) {
      const tables = byTable(some);
      if (tables.length === 1) for (const { found } of some) found.reject(error);
      // A fault of one table must not fail reads of the others.
      else await Promise.all(tables.map(([, those]) => read(those)));
    }
  }

  function readAll(): void {
    const all = [...wanted.values()];
    wanted = new Map();
    for (let from = 0; from < all.length; from += maxKeys) void read(all.slice(from, from + maxKeys));
  }

  return (table, key) => {
    // DynamoDB refuses a batch for one such key, and with it the reads of others.
    if (!canHold(key)) return Promise.resolve(undefined);
    const name = nameOf(table, key);
    const present = wanted.get(name);
    if (present !== undefined) return present.found.promise;
    // Wait until all reads of the same moment have arrived.
    if (wanted.size === 0) setImmediate(readAll);
    const added = { table, key, found: Promise.withResolvers<Item | undefined>() };
    wanted.set(name, added);
    return added.found.promise;
  };
}

const readers = new WeakMap<DynamoDBDocumentClient, ReturnType<typeof readerOf>>();

/**
 * Combine reads of single items into few requests. Reads of the same moment share one request across tables, and
 * each item is read only once. No request goes out before its reads arrive, so each read is as consistent as a
 * separate one. A client request takes longer than the engine's work on it.
 */
function gatheredReads(client: DynamoDBDocumentClient, tableName: string): ReadItem {
  const reader = readers.get(client) ?? readerOf(client);
  readers.set(client, reader);
  return (key) => reader(tableName, key);
}

/**
 * Parse a page of items. Omit unreadable records and report them in `unreadable`, so they never hide the others.
 */
export function readPage<T>({ items, next }: Page<Item>, parse: (item: Item) => T): Page<T> {
  const read: T[] = [];
  const unreadable: UnreadableRecordError[] = [];
  for (const item of items) {
    try {
      read.push(parse(item));
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      unreadable.push(error);
    }
  }
  return { items: read, next, ...(unreadable.length > 0 && { unreadable }) };
}

/** Return a page of one item, or an empty page. */
export const pageOf = (item: Item | undefined): Page<Item> => ({
  items: item === undefined ? [] : [item],
  next: undefined,
});

/**
 * Begin a read that may turn out unnecessary, so it shares a request with other reads.
 * @returns a function: its first call returns the read that has begun, each later call starts a new read for a
 * retry
 */
export function readAhead<T>(read: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined = read();
  // Ignore the error if no caller needs the read.
  begun.catch(() => {});
  return () => {
    const first = begun;
    begun = undefined;
    return first ?? read();
  };
}

/** Return the condition on the sort keys of a query, and the values that it names. */
function rangeOf({
  prefix,
  above,
  below,
}: Partial<Record<'prefix' | 'above' | 'below', string | undefined>>) {
  if (prefix !== undefined)
    return { conditions: ['begins_with(sk, :prefix)'], values: { ':prefix': prefix } };
  if (above !== undefined) return { conditions: ['sk > :above'], values: { ':above': above } };
  if (below !== undefined) return { conditions: ['sk < :below'], values: { ':below': below } };
  return { conditions: [], values: {} };
}
