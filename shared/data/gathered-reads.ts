import { setImmediate } from 'node:timers';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, type Key, requireItem } from './item.ts';
import { TableBusyError } from './table-busy.ts';

/** Keys of one request. */
const keysMost = 100;
const rounds = 5;

/** Reads the item of a key, strongly consistently; undefined where there is none. */
export type ReadItem = (key: Key) => Promise<Item | undefined>;

interface Wanted {
  key: Key;
  found: PromiseWithResolvers<Item | undefined>;
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

function readerOf(client: DynamoDBDocumentClient, TableName: string): ReadItem {
  let wanted = new Map<string, Wanted>();

  async function readOne({ pk, sk }: Key): Promise<Item | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }));
    return Item === undefined ? undefined : requireItem(Item);
  }

  async function readMany(keys: readonly Key[]): Promise<Map<string, Item>> {
    const found = new Map<string, Item>();
    let left: Record<string, unknown>[] = keys.map(({ pk, sk }) => ({ pk, sk }));
    for (let round = 0; left.length > 0; round += 1) {
      if (round === rounds) throw new TableBusyError('the table did not answer all keys of a batch');
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 20 * 2 ** round));
      const answer = await client.send(
        new BatchGetCommand({ RequestItems: { [TableName]: { Keys: left, ConsistentRead: true } } }),
      );
      for (const value of answer.Responses?.[TableName] ?? []) {
        const item = requireItem(value);
        found.set(nameOf(item), item);
      }
      left = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];
    }
    return found;
  }

  async function read(some: readonly Wanted[]): Promise<void> {
    const [only] = some;
    try {
      if (some.length === 1 && only !== undefined) return only.found.resolve(await readOne(only.key));
      const items = await readMany(some.map(({ key }) => key));
      for (const { key, found } of some) found.resolve(items.get(nameOf(key)));
    } catch (error) {
      for (const { found } of some) found.reject(error);
    }
  }

  function readAll(): void {
    const all = [...wanted.values()];
    wanted = new Map();
    for (let from = 0; from < all.length; from += keysMost) void read(all.slice(from, from + keysMost));
  }

  return (key) => {
    const name = nameOf(key);
    const present = wanted.get(name);
    if (present !== undefined) return present.found.promise;
    // Whatever else arrived at the same moment asks before.
    if (wanted.size === 0) setImmediate(readAll);
    const one = { key, found: Promise.withResolvers<Item | undefined>() };
    wanted.set(name, one);
    return one.found.promise;
  };
}

const readers = new WeakMap<DynamoDBDocumentClient, Map<string, ReadItem>>();

/**
 * Reads single items of a table by few requests: those of the same moment go as one, an item that several want once. None
 * is sent before it is asked for, so each is as consistent as by itself. A request of the client takes longer than the
 * engine's work on it.
 */
export function gatheredReads(client: DynamoDBDocumentClient, tableName: string): ReadItem {
  const present = readers.get(client) ?? new Map<string, ReadItem>();
  readers.set(client, present);
  const reader = present.get(tableName) ?? readerOf(client, tableName);
  present.set(tableName, reader);
  return reader;
}
