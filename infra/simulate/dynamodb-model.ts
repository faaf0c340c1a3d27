import { BatchGetCommand, GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, Key } from '../../shared/data/table.ts';
import { holds, updated } from './expression.ts';
import type { LimitFacts, Meter } from './meter.ts';
import type { VirtualClock } from './virtual-clock.ts';

/*
 * DynamoDB as its documentation tells: a partition gives 1,000 write and 3,000 read units a second; a new on-demand
 * table gives 4,000 and 12,000, and from then on twice its former peak; an account's quota of a table is 40,000 of
 * each. A strongly consistent read takes a unit for 4 KB, a transactional write two for 1 KB. An item that a
 * transaction writes refuses other transactions until it is over. Each partition key is a partition of its own here:
 * DynamoDB would split a hot one by its sort keys, but not where these only grow.
 */

const partitionWrites: LimitFacts = { kind: 'DynamoDB: writes of a partition', most: 1_000 };
const partitionReads: LimitFacts = { kind: 'DynamoDB: reads of a partition', most: 3_000 };
/** Seconds of a second for which an item is locked. */
const itemLocks: LimitFacts = { kind: 'DynamoDB: transactions of an item', most: 1 };
const tableQuota = 40_000;
const newTable = { writes: 4_000, reads: 12_000 };

/** Milliseconds of virtual time; those of a transaction are also how long its items are locked. */
const readMilliseconds = 3;
const transactionMilliseconds = 12;
/** Tries of the SDK for what is throttled, and its first pause. */
const sdkTries = 3;
const sdkPause = 50;

interface Row {
  item: Item;
  bytes: number;
  isLocked: boolean;
}

interface Partition {
  rows: Map<string, Row>;
  /** Sort keys in order. */
  order: string[];
}

type TransactItem = NonNullable<TransactWriteCommand['input']['TransactItems']>[number];

const failure = (name: string, more: object = {}): Error => Object.assign(new Error(name), { name }, more);
const bytesOf = (item: object): number => JSON.stringify(item).length;
const writeUnits = (bytes: number): number => 2 * Math.ceil(Math.max(1, bytes) / 1024);
const readUnits = (bytes: number): number => Math.ceil(Math.max(1, bytes) / 4096);

function position(order: readonly string[], sk: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] ?? '') < sk) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Items that jobs have in common; all others are of one job. */
const isShared = /^(?:LIMITS|COUNTERS|PROJECTS)/;
const lockName = ({ pk, sk }: Key): string => `${pk}/${sk}`;

/** Where a write of a transaction goes, and what its expressions say. */
function targetOf({ Put, Update, Delete, ConditionCheck }: TransactItem) {
  const write = Put ?? Update ?? Delete ?? ConditionCheck;
  if (write === undefined) throw new Error('a transaction without a write');
  const { pk, sk }: Record<string, unknown> =
    'Item' in write ? (write.Item ?? {}) : ('Key' in write && write.Key) || {};
  return {
    key: { pk: String(pk), sk: String(sk) },
    condition: write.ConditionExpression,
    names: write.ExpressionAttributeNames ?? {},
    values: write.ExpressionAttributeValues ?? {},
  };
}

/** One table of the model. */
class TableModel {
  readonly #partitions = new Map<string, Partition>();
  readonly #clock: VirtualClock;
  readonly #meter: Meter;
  readonly #name: string;
  #most = { ...newTable };
  #minute = 0;
  #used = { writes: 0, reads: 0 };

  constructor(clock: VirtualClock, meter: Meter, name: string) {
    this.#clock = clock;
    this.#meter = meter;
    this.#name = name;
  }

  /** On-demand tables take twice the peak that they have seen, which is taken by the minute. */
  #grow(): void {
    const minute = Math.floor(this.#clock.now / 60_000);
    if (minute === this.#minute) return;
    for (const kind of ['writes', 'reads'] as const) {
      this.#most[kind] = Math.min(tableQuota, Math.max(this.#most[kind], (2 * this.#used[kind]) / 60));
    }
    this.#used = { writes: 0, reads: 0 };
    this.#minute = minute;
  }

  #take(kind: 'writes' | 'reads', pk: string, units: number): boolean {
    this.#grow();
    this.#used[kind] += units;
    const limit = kind === 'writes' ? partitionWrites : partitionReads;
    const own: LimitFacts = { kind: `DynamoDB: ${kind} of a table`, most: this.#most[kind] };
    return this.#meter.take(limit, pk, units) && this.#meter.take(own, this.#name, units);
  }

  find({ pk, sk }: Key): Row | undefined {
    return this.#partitions.get(pk)?.rows.get(sk);
  }

  put(item: Item): void {
    let partition = this.#partitions.get(item.pk);
    if (partition === undefined) {
      partition = { rows: new Map(), order: [] };
      this.#partitions.set(item.pk, partition);
    }
    const row = { item, bytes: bytesOf(item), isLocked: false };
    if (!partition.rows.has(item.sk)) partition.order.splice(position(partition.order, item.sk), 0, item.sk);
    partition.rows.set(item.sk, row);
  }

  delete({ pk, sk }: Key): void {
    const partition = this.#partitions.get(pk);
    if (partition?.rows.delete(sk) !== true) return;
    partition.order.splice(position(partition.order, sk), 1);
    if (partition.order.length === 0) this.#partitions.delete(pk);
  }

  async read<T>(pk: string, find: () => { value: T; bytes: number }): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      await this.#clock.sleep(readMilliseconds);
      const { value, bytes } = find();
      if (this.#take('reads', pk, readUnits(bytes))) return value;
      if (tried === sdkTries) throw failure('ProvisionedThroughputExceededException');
      await this.#clock.sleep(Math.random() * sdkPause * 2 ** tried);
    }
  }

  query({ pk, prefix = '', after, descending, limit }: Query) {
    const { rows, order } = this.#partitions.get(pk) ?? { rows: new Map<string, Row>(), order: [] };
    const items: Item[] = [];
    let bytes = 0;
    const step = descending ? -1 : 1;
    const first = descending
      ? after === undefined
        ? prefix === ''
          ? order.length - 1
          : position(order, `${prefix}\uffff`) - 1
        : position(order, after) - 1
      : after === undefined
        ? position(order, prefix)
        : position(order, `${after}\0`);
    let index = first;
    for (; index >= 0 && index < order.length; index += step) {
      const row = rows.get(order[index] ?? '');
      if (row === undefined || !row.item.sk.startsWith(prefix)) break;
      if (items.length === limit || bytes > 1_000_000) {
        return { items, bytes, next: items.at(-1)?.sk };
      }
      items.push(row.item);
      bytes += row.bytes;
    }
    // DynamoDB knows of the end only when it has looked behind the last item.
    return { items, bytes, next: items.length === limit ? items.at(-1)?.sk : undefined };
  }

  async write(writes: readonly TransactItem[], locked: Set<string>): Promise<void> {
    const targets = writes.map(targetOf);
    await this.#clock.sleep(readMilliseconds);
    const name = ({ pk, sk }: Key) => `${this.#name}/${pk}/${sk}`;
    const codes = targets.map(({ key, condition, names, values }, index) => {
      if (locked.has(name(key))) {
        if (isShared.test(key.pk)) this.#meter.note(itemLocks, lockName(key), 0, 1);
        return 'TransactionConflict';
      }
      const row = this.find(key);
      const put = writes[index]?.Put?.Item;
      const units = writeUnits(Math.max(row?.bytes ?? 0, put === undefined ? 0 : bytesOf(put)));
      if (!this.#take('writes', key.pk, units)) return 'ThrottlingError';
      return holds(condition, { item: row?.item, names, values }) ? 'None' : 'ConditionalCheckFailed';
    });
    if (codes.some((code) => code !== 'None')) {
      await this.#clock.sleep(readMilliseconds);
      const CancellationReasons = codes.map((Code) => ({ Code }));
      throw failure('TransactionCanceledException', { CancellationReasons });
    }
    for (const { key } of targets) {
      locked.add(name(key));
      if (isShared.test(key.pk)) this.#meter.note(itemLocks, lockName(key), transactionMilliseconds / 1000);
    }
    await this.#clock.sleep(transactionMilliseconds);
    for (const [index, write] of writes.entries()) {
      const target = targets[index];
      if (target !== undefined) this.#apply(write, target.key);
      if (target !== undefined) locked.delete(name(target.key));
    }
  }

  #apply({ Put, Update, Delete }: TransactItem, key: Key): void {
    if (Put?.Item !== undefined) this.put({ ...Put.Item, ...key });
    else if (Update?.UpdateExpression !== undefined) {
      const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = Update;
      this.put(updated(key, Update.UpdateExpression, { item: this.find(key)?.item, names, values }));
    } else if (Delete !== undefined) this.delete(key);
  }
}

interface Query {
  pk: string;
  prefix?: string | undefined;
  after: string | undefined;
  descending: boolean;
  limit: number;
}

/** A client of DynamoDB, as far as `shared/data` uses one, that keeps its tables in memory and its limits. */
export class DynamoDbModel {
  readonly #tables = new Map<string, TableModel>();
  readonly #locked = new Set<string>();
  readonly #clock: VirtualClock;
  readonly #meter: Meter;

  constructor(clock: VirtualClock, meter: Meter) {
    this.#clock = clock;
    this.#meter = meter;
  }

  #table(name: string | undefined): TableModel {
    let table = this.#tables.get(name ?? '');
    if (table === undefined) {
      table = new TableModel(this.#clock, this.#meter, name ?? '');
      this.#tables.set(name ?? '', table);
    }
    return table;
  }

  /** Do what a command of the document client asks for. */
  readonly send = async (command: unknown): Promise<unknown> => {
    if (command instanceof TransactWriteCommand) {
      const writes = command.input.TransactItems ?? [];
      const [first] = writes;
      const name = (first?.Put ?? first?.Update ?? first?.Delete ?? first?.ConditionCheck)?.TableName;
      await this.#table(name).write(writes, this.#locked);
      return {};
    }
    if (command instanceof GetCommand) {
      const { TableName, Key } = command.input;
      const table = this.#table(TableName);
      const key = { pk: String(Key?.['pk']), sk: String(Key?.['sk']) };
      const found = () => ({ value: table.find(key)?.item, bytes: table.find(key)?.bytes ?? 0 });
      return { Item: await table.read(key.pk, found) };
    }
    if (command instanceof BatchGetCommand) {
      const Responses: Record<string, Item[]> = {};
      for (const [name, { Keys = [] }] of Object.entries(command.input.RequestItems ?? {})) {
        const table = this.#table(name);
        const items = await Promise.all(
          Keys.map(({ pk, sk }) => {
            const row = () => table.find({ pk: String(pk), sk: String(sk) });
            return table.read(String(pk), () => ({ value: row()?.item, bytes: row()?.bytes ?? 0 }));
          }),
        );
        Responses[name] = items.filter((item) => item !== undefined);
      }
      return { Responses };
    }
    if (command instanceof QueryCommand) return this.#query(command.input);
    throw new Error('the model of DynamoDB knows no such command');
  };

  async #query(input: QueryCommand['input']): Promise<unknown> {
    const { ExpressionAttributeValues: values = {}, ExclusiveStartKey, ScanIndexForward, Limit } = input;
    const pk = String(values[':pk']);
    const query: Query = {
      pk,
      prefix: values[':prefix'] === undefined ? undefined : String(values[':prefix']),
      after: ExclusiveStartKey === undefined ? undefined : String(ExclusiveStartKey['sk']),
      descending: ScanIndexForward === false,
      limit: Limit ?? Number.POSITIVE_INFINITY,
    };
    const table = this.#table(input.TableName);
    const page = await table.read(pk, () => {
      const { bytes, ...value } = table.query(query);
      return { value, bytes };
    });
    return {
      ...(input.Select === 'COUNT' ? { Count: page.items.length } : { Items: page.items }),
      ...(page.next !== undefined && { LastEvaluatedKey: { pk, sk: page.next } }),
    };
  }
}
