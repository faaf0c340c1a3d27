import { createHash } from 'node:crypto';
import { decodeTime, encodeTime, ulid } from 'ulid';
import * as z from 'zod';
import { isoTime, Timestamp, Ulid } from '../../core/formats.ts';
import { auditPrefix } from '../table/audited-writer.ts';
import type { UnreadableRecordError } from '../table/item.ts';
import { recordType } from '../table/record.ts';
import {
  type Item,
  type Page,
  readPage,
  type TableName,
  type TableReader,
  type Write,
} from '../table/table.ts';

const audit = recordType('audit', () =>
  z.object({
    /** Begins with its time, so records sort by time. */
    audit_id: Ulid,
    at: Timestamp,
    /** Name of the operation in the OpenAPI document, or `mlflow` and the path of a route. */
    operation: z.string(),
    project_id: Ulid.nullable(),
    /** Ids and names that the operation is about, as JSON. */
    subject: z.string(),
    /** Null if the caller has not signed in. */
    user_id: Ulid.nullable(),
    username: z.string().nullable(),
    /** Repository whose run in CI acted with the user's rights, as its issuer names it. Null for others. */
    ci: z.string().nullable().default(null),
    /** Token or session by which the caller was known. */
    token_id: Ulid.nullable(),
    session_id: Ulid.nullable(),
    address: z.string(),
    request_id: z.string(),
    /** Values of fields that are no secrets, as JSON. */
    before: z.string().nullable(),
    after: z.string().nullable(),
    /** Epoch seconds after which DynamoDB may remove the item. */
    ttl: z.number().int(),
  }),
);
/** Record of one operation that wrote something. Nothing changes it; it expires by the option `auditDays`. */
export type AuditRecord = z.infer<typeof audit.schema>;

/**
 * Partitions of a month. Each table has its own, because a transaction writes one table. All records of a project are in one
 * partition.
 */
const shards = { records: 8, accounts: 1 } as const satisfies Record<TableName, number>;

const partition = (month: string, shard: number): string => `${auditPrefix}${month}#${shard}`;

/** Whether an item is a record of the audit, which outlives what it tells of. */
export const isAuditItem = ({ pk }: Pick<Item, 'pk'>): boolean => pk.startsWith(auditPrefix);

function shardOf(owner: string, table: TableName): number {
  return createHash('sha256').update(owner).digest().readUInt8(0) % shards[table];
}

/** Build the write that appends a record. Its condition makes a repetition fail instead of replacing the record. */
export function appendAudit(table: TableName, record: AuditRecord): Write {
  const owner = record.project_id ?? record.user_id ?? record.address;
  const pk = partition(monthOf(record.at), shardOf(owner, table));
  return { put: audit.item({ pk, sk: record.audit_id }, record), if: { exists: false } };
}

const monthOf = (at: string): string => at.slice(0, 7);

/**
 * Return the id of the record that stands for all equal operations of an hour. It is the same in every process.
 * @param what what is equal: operation, subject and credentials
 */
export function hourlyId(what: readonly unknown[], now: Date): string {
  const hour = Math.floor(now.getTime() / hourMilliseconds) * hourMilliseconds;
  const digest = createHash('sha256')
    .update(JSON.stringify([hour, ...what]))
    .digest();
  // Like those of a new id, its characters take a byte each.
  let used = 0;
  return ulid(hour, () => digest.readUInt8(used++) / 256).toLowerCase();
}

const hourMilliseconds = 3_600_000;
const dayMilliseconds = 24 * hourMilliseconds;
const timeLength = 10;
const timeOf = (milliseconds: number): string => encodeTime(milliseconds, timeLength).toLowerCase();

/** Which records a list has. */
export interface AuditFilter {
  project_id?: string | undefined;
  username?: string | undefined;
  operation?: string | undefined;
  /** ISO 8601. */
  since?: string | undefined;
  until?: string | undefined;
}

/** A page of a list: rows after the id `after`, newest first. */
interface AuditPage {
  limit: number;
  after: string | undefined;
  now: Date;
  /** Days after which records expire. */
  days: number;
}

/** Records that one request reads at most, and months. */
const maxRead = 4000;
const maxMonths = 24;
/** Records that a query reads at least if most may not match: a page of one row must not be a query for each. */
const minRead = 250;

/**
 * Return a page of the records, newest first. It has fewer than `limit` rows, or none, if few of those that it read match;
 * only a page without `next` is the last.
 * @param tables the tables to read; of a project only `records` has any
 */
export async function listAudit(
  tables: readonly TableReader<TableName>[],
  filter: AuditFilter,
  { limit, after, now, days }: AuditPage,
): Promise<Page<AuditRecord>> {
  const oldest = isoTime(now.getTime() - days * dayMilliseconds);
  const since = filter.since !== undefined && filter.since > oldest ? filter.since : oldest;
  const until = filter.until ?? isoTime(now.getTime() + dayMilliseconds);
  // An hourly record has the id of the beginning of its hour.
  const lowest = timeOf(Math.max(0, Date.parse(since) - hourMilliseconds));
  const highest = timeOf(Math.max(0, Math.min(Date.parse(until), now.getTime() + dayMilliseconds) + 1));
  let position = after !== undefined && after < highest ? after : highest;
  const items: AuditRecord[] = [];
  const unreadable: UnreadableRecordError[] = [];
  let read = 0;
  for (let months = 0; position > lowest && positionPattern.test(position); months += 1) {
    const time = decodeTime(position.slice(0, timeLength).padEnd(26, '0').toUpperCase());
    // The records before the first moment of a month are in the month before.
    const month = monthOf(isoTime(position.length === timeLength ? Math.max(0, time - 1) : time));
    if (months === maxMonths || read >= maxRead) return { items, next: position, unreadable };
    const page = await newestOfMonth(tables, month, filter, { position, lowest, limit });
    read += page.read;
    const parsed = readPage({ items: page.items, next: undefined }, audit.parse);
    unreadable.push(...(parsed.unreadable ?? []));
    for (const record of parsed.items) {
      if (record.at < since || record.at > until || !matches(record, filter)) continue;
      if (items.length === limit) return { items, next: items.at(-1)?.audit_id, unreadable };
      items.push(record);
    }
    position = page.next ?? timeOf(Date.parse(`${month}-01T00:00:00.000Z`));
  }
  return { items, next: undefined, unreadable };
}

/** An id, or the time at its beginning. */
const positionPattern = /^[0-7][0-9a-hjkmnp-tv-z]{9,25}$/;

const matches = (record: AuditRecord, { project_id, username, operation }: AuditFilter): boolean =>
  (project_id === undefined || record.project_id === project_id) &&
  (username === undefined || record.username === username) &&
  (operation === undefined || record.operation === operation);

/** Return rows of a month, newest first. `next` is undefined if the month has no more. */
async function newestOfMonth(
  tables: readonly TableReader<TableName>[],
  month: string,
  { project_id, username, operation }: AuditFilter,
  { position, lowest, limit }: { position: string; lowest: string; limit: number },
): Promise<Page<Item> & { read: number }> {
  const sources = tables.flatMap((table) => {
    const all = Array.from({ length: shards[table.name] }, (_, shard) => shard);
    const those = project_id === undefined ? all : [shardOf(project_id, table.name)];
    return those.map((shard) => ({ table, pk: partition(month, shard) }));
  });
  const isSparse = (project_id ?? username ?? operation) !== undefined;
  const share = Math.ceil((2 * limit) / sources.length) + 1;
  const most = isSparse ? Math.max(share, minRead) : share;
  const pages = await Promise.all(
    sources.map(({ table, pk }) =>
      table.query({ pk, above: lowest, after: position, descending: true, limit: most }),
    ),
  );
  // Rows below the end of a source that has more may not be the next ones.
  const floor = pages.map(({ next }) => next ?? '').reduce((high, key) => (key > high ? key : high), '');
  const items = pages
    .flatMap((page) => page.items)
    .filter(({ sk }) => sk >= floor)
    .sort((a, b) => (a.sk < b.sk ? 1 : -1));
  const read = pages.reduce((sum, page) => sum + page.items.length, 0);
  return { items, read, next: floor === '' ? undefined : floor };
}
