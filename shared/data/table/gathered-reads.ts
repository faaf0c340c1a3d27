import { setImmediate } from 'node:timers';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchGetCommand, type BatchGetCommandInput, GetCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, type Key, requireItem } from './item.ts';
import { TableBusyError } from './table-busy.ts';

/** Keys of one request. */
const maxKeys = 100;
const rounds = 5;

/** Reads the item of a key, strongly consistently; undefined where there is none. */
export type ReadItem = (key: Key) => Promise<Item | undefined>;

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
export function gatheredReads(client: DynamoDBDocumentClient, tableName: string): ReadItem {
  const reader = readers.get(client) ?? readerOf(client);
  readers.set(client, reader);
  return (key) => reader(tableName, key);
}
