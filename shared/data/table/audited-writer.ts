import type { TableName, TableReader, TableWriter, Write } from './table.ts';
import { ConditionFailedError, WriteLabel } from './write-label.ts';

/** The audit record of an operation, which joins its first transaction. */
export interface AuditEntry {
  /** Build the write that appends the record to a table; undefined if the table has it already. */
  append(table: TableName): Write | undefined;
  /** Called once the table has the record. */
  appended(): void;
}

/**
 * Create what lets the writers of one operation share its audit record: whichever of them does the first transaction adds
 * the record to it, and no other does. So both exist or neither, and an operation that writes nothing has no record.
 * @example
 * const audited = auditedWriters(entry);
 * const records = audited(context.records);
 */
export function auditedWriters(entry: AuditEntry) {
  /** The transaction that has the record, while it is under way; resolves to whether it was done. */
  let carrier: Promise<boolean> | undefined;

  async function carry(
    table: TableWriter<TableName>,
    writes: readonly Write[],
    record: Write,
  ): Promise<void> {
    try {
      await table.write(...writes, appending.on(record));
    } catch (error) {
      if (!appending.failedIn(error)) throw error;
      // An attempt whose answer was lost has appended it, or another process in this hour.
      entry.appended();
      const others =
        error instanceof ConditionFailedError ? error.failed.filter((label) => label !== appending) : [];
      if (others.length > 0) throw new ConditionFailedError(others);
      return table.write(...writes);
    }
    entry.appended();
  }

  async function write(table: TableWriter<TableName>, writes: readonly Write[]): Promise<void> {
    // Of concurrent transactions only one has the record; if it fails, the next one takes it.
    while (carrier !== undefined) if (await carrier) return table.write(...writes);
    const record = entry.append(table.name);
    if (record === undefined) return table.write(...writes);
    const carrying = carry(table, writes, record);
    const settled = carrying.then(
      () => true,
      () => {
        if (carrier === settled) carrier = undefined;
        return false;
      },
    );
    carrier = settled;
    return carrying;
  }

  return <N extends TableName>(table: TableWriter<N>): TableWriter<N> => {
    const audited: TableWriter<N> = { ...table, write: (...writes) => write(table, writes) };
    originals.set(audited, table);
    return audited;
  };
}

/** Beginning of the partitions of audit records. `accounts/needs.ts` has their pattern. */
export const auditPrefix = 'AUDIT#';

const appending = new WriteLabel('audit record');

const originals = new WeakMap<object, unknown>();

/**
 * Return the writer without the audit record, for writes that are not what the operation was asked for: counts of attempts,
 * upkeep of lists and catalogues, jobs of others that start. It is also the same object for all requests of a process.
 */
export function withoutAudit<T extends TableReader<TableName>>(table: T): T {
  // The original has all methods of its copy.
  return (originals.get(table) as T | undefined) ?? table;
}
