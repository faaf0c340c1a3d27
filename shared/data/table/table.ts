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
import { type Item, type Key, requireItem, UnreadableRecordError } from './item.ts';
import { TableBusyError } from './retry-on-conflict.ts';
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

interface PartitionQuery {
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

/** Keys of one request. */
const maxKeys = 100;
const rounds = 5;

/** Reads the item of a key, strongly consistently; undefined where there is none. */
type ReadItem = (key: Key) => Promise<Item | undefined>;

interface Wanted {
  table: string;
  key: Key;
  found: PromiseWithResolvers<Item | undefined>;
}

const nameOf = (table: string, { pk, sk }: Key): string => `${table}\n${pk}\n${sk}`;

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

/** Reads items of every table of a client. */
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
      if (round === rounds) throw new TableBusyError('the table did not answer all keys of a batch');
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
      // What is wrong with one table is not wrong with the others.
      else await Promise.all(tables.map(([, those]) => read(those)));
    }
  }

  function readAll(): void {
    const all = [...wanted.values()];
    wanted = new Map();
    for (let from = 0; from < all.length; from += maxKeys) void read(all.slice(from, from + maxKeys));
  }

  return (table, key) => {
    const name = nameOf(table, key);
    const present = wanted.get(name);
    if (present !== undefined) return present.found.promise;
    // Whatever else arrived at the same moment asks before.
    if (wanted.size === 0) setImmediate(readAll);
    const one = { table, key, found: Promise.withResolvers<Item | undefined>() };
    wanted.set(name, one);
    return one.found.promise;
  };
}

const readers = new WeakMap<DynamoDBDocumentClient, ReturnType<typeof readerOf>>();

/**
 * Reads single items of a table by few requests: those of the same moment go as one, whatever their tables, and an item
 * that several want once. None is sent before it is asked for, so each is as consistent as by itself. A request of the
 * client takes longer than the engine's work on it.
 */
function gatheredReads(client: DynamoDBDocumentClient, tableName: string): ReadItem {
  const reader = readers.get(client) ?? readerOf(client);
  readers.set(client, reader);
  return (key) => reader(tableName, key);
}

/**
 * The records of a page of items. Those that cannot be read are left out and reported in `unreadable`, so that one of
 * them never hides the others.
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

/** The page of one item that was read by itself, or of none. */
export const pageOf = (item: Item | undefined): Page<Item> => ({
  items: item === undefined ? [] : [item],
  next: undefined,
});

/**
 * Begin a read of which it is not certain yet whether it is needed, so that it goes together with other reads.
 * @returns the read: what was begun at the first call, a new one at every later call, as a retry needs it
 */
export function readAhead<T>(read: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined = read();
  // Where it is not needed its failure is nobody's.
  begun.catch(() => {});
  return () => {
    const first = begun;
    begun = undefined;
    return first ?? read();
  };
}
