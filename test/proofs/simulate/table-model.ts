import type { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Key } from '../../../shared/data/table/table.ts';
import { holds, updated } from './expression.ts';
import type { LimitFacts, Meter } from './meter.ts';
import { bytesOf, TableRows } from './table-rows.ts';
import type { VirtualClock } from './virtual-clock.ts';

/*
 * DynamoDB as documented: a partition gives 1,000 write and 3,000 read units a second; a new on-demand table gives
 * 4,000 and 12,000, and from then on twice its former peak; an account's quota of a table is 40,000 of each. A
 * strongly consistent read takes a unit for 4 KB, a transactional write two for 1 KB. An item that a transaction
 * writes refuses other transactions until it is over. Each partition key is a partition of its own here: DynamoDB
 * would split a hot one by its sort keys, but not where these only grow.
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

/** A write of a transaction. */
export type TransactItem = NonNullable<TransactWriteCommand['input']['TransactItems']>[number];

/** An error of the SDK. */
const failure = (name: string, more: object = {}): Error => Object.assign(new Error(name), { name }, more);
const writeUnits = (bytes: number): number => 2 * Math.ceil(Math.max(1, bytes) / 1024);
const readUnits = (bytes: number): number => Math.ceil(Math.max(1, bytes) / 4096);

/** Items that jobs have in common; all others are of one job. */
const isShared = /^(?:LIMITS|COUNTERS|PROJECTS|MONTH_COSTS)/;
/** Name of the kind of an item, without ids and numbers. */
const kindOf = ({ pk, sk }: Partial<Key>): string =>
  [pk, sk].map((key = '') => key.replace(/[0-7][0-9a-hjkmnp-tv-z]{25}|\d[\d:.TZ-]*/g, '…')).join(' / ');
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

/** A table with the limits of DynamoDB, in virtual time. */
export class TableModel {
  readonly rows = new TableRows();
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

  #take(kind: 'writes' | 'reads', key: Pick<Key, 'pk'> & Partial<Key>, units: number): boolean {
    this.#grow();
    this.#used[kind] += units;
    const limit = kind === 'writes' ? partitionWrites : partitionReads;
    const own: LimitFacts = { kind: `DynamoDB: ${kind} of a table`, most: this.#most[kind] };
    const isTaken = this.#meter.take(limit, key.pk, units) && this.#meter.take(own, this.#name, units);
    if (isTaken) this.#meter.billUnits(kind, kindOf(key), units);
    return isTaken;
  }

  /** Read what `find` returns with its bytes, and be throttled as DynamoDB would. */
  async read<T>(key: Pick<Key, 'pk'> & Partial<Key>, find: () => { value: T; bytes: number }): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      await this.#clock.sleep(readMilliseconds);
      const { value, bytes } = find();
      if (this.#take('reads', key, readUnits(bytes))) return value;
      if (tried === sdkTries) throw failure('ProvisionedThroughputExceededException');
      await this.#clock.sleep(Math.random() * sdkPause * 2 ** tried);
    }
  }

  /** Write all or nothing. `locked` are the items of all tables that transactions are writing to. */
  async write(writes: readonly TransactItem[], locked: Set<string>): Promise<void> {
    const targets = writes.map(targetOf);
    await this.#clock.sleep(readMilliseconds);
    const name = ({ pk, sk }: Key) => `${this.#name}/${pk}/${sk}`;
    const codes = targets.map(({ key, condition, names, values }, index) => {
      if (locked.has(name(key))) {
        if (isShared.test(key.pk)) this.#meter.note(itemLocks, lockName(key), 0, 1);
        return 'TransactionConflict';
      }
      const row = this.rows.find(key);
      const put = writes[index]?.Put?.Item;
      const units = writeUnits(Math.max(row?.bytes ?? 0, put === undefined ? 0 : bytesOf(put)));
      if (!this.#take('writes', key, units)) return 'ThrottlingError';
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
    if (Put?.Item !== undefined) this.rows.put({ ...Put.Item, ...key });
    else if (Update?.UpdateExpression !== undefined) {
      const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = Update;
      this.rows.put(
        updated(key, Update.UpdateExpression, { item: this.rows.find(key)?.item, names, values }),
      );
    } else if (Delete !== undefined) this.rows.delete(key);
  }
}
