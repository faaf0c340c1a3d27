import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { toWellFormed } from '../../core/text/well-formed.ts';
import { auditPrefix } from './audited-writer.ts';
import { Expression } from './condition.ts';
import { noteWrites } from './recent-values.ts';
import { jitteredPause } from './retry-on-conflict.ts';
import { withTableNumbers } from './stored-number.ts';
import { type Item, keyOf, type TableName, type TableWriter, tableReader, type Write } from './table.ts';
import { ConditionFailedError } from './write-label.ts';

/**
 * Create a writer of the table that is deployed as `tableName`.
 *
 * Every write is a transaction, even a single one. Only transactions carry a client token. With the token,
 * DynamoDB recognises a retry after a lost reply and reports the original success. This costs a second write unit
 * and avoids a whole class of faults.
 * @param onWritten called after each transaction that was done; the write resolves after it
 */
export function tableWriter<N extends TableName>(
  client: DynamoDBDocumentClient,
  name: N,
  tableName: string,
  onWritten?: (writes: readonly Write[]) => Promise<void>,
): TableWriter<N> {
  return {
    ...tableReader(client, name, tableName),
    writable: true,

    async write(...writes) {
      if (writes.some(changesAudit)) throw new Error('audit records are only appended');
      const TransactItems = writes.map((write) => transactItem(tableName, write));
      for (let round = 0; ; round += 1) {
        try {
          await client.send(new TransactWriteCommand({ ClientRequestToken: randomUUID(), TransactItems }));
          noteWrites(writes);
          return await onWritten?.(writes);
        } catch (error) {
          // A request without an answer may have been done.
          noteWrites(writes);
          if (!isCancellation(error)) throw error;
          const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
          const failed = writes.filter((_, index) => codes[index] === 'ConditionalCheckFailed');
          if (failed.length > 0) throw new ConditionFailedError(failed.map(({ label }) => label));
          if (round === conflictRounds || !codes.some((code) => passing.has(code))) throw error;
          await jitteredPause(round, longestPause);
        }
      }
    },
  };
}

/** Whether a write could change a record of what was done (`accounts/audit.ts`). */
const changesAudit = (write: Write): boolean =>
  keyOf(write).pk.startsWith(auditPrefix) && !('put' in write && write.if?.exists === false);

function transactItem(TableName: string, write: Write): TransactItem {
  const expression = new Expression();
  const condition = write.if === undefined ? {} : { ConditionExpression: expression.condition(write.if) };
  if ('put' in write)
    return { Put: { TableName, Item: storableItem(write.put), ...condition, ...expression.placeholders() } };
  if ('update' in write) {
    const { set } = write.change;
    const UpdateExpression = expression.change({ ...write.change, ...(set && { set: storable(set) }) });
    const { pk, sk } = write.update;
    return {
      Update: { TableName, Key: { pk, sk }, UpdateExpression, ...condition, ...expression.placeholders() },
    };
  }
  const { pk, sk } = 'delete' in write ? write.delete : write.check;
  if ('delete' in write)
    return { Delete: { TableName, Key: { pk, sk }, ...condition, ...expression.placeholders() } };
  return {
    ConditionCheck: {
      TableName,
      Key: { pk, sk },
      ConditionExpression: '',
      ...condition,
      ...expression.placeholders(),
    },
  };
}

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Build the item to store. Never repair its keys: they would name another item. */
const storableItem = ({ pk, sk, ...attributes }: Item): Item => ({ ...storable(attributes), pk, sk });

/**
 * Make text and numbers storable. A job may report text that is cut in the middle of a character, and a user may give a
 * number as small as 1e-300: DynamoDB refuses both. `recordType` reads such numbers.
 */
const storable = (attributes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, withTableNumbers(toWellFormed(value))]),
  );

function isCancellation(error: unknown): error is Cancellation {
  return error instanceof Error && error.name === 'TransactionCanceledException';
}

interface Cancellation {
  name: 'TransactionCanceledException';
  CancellationReasons?: { Code?: string }[];
}

const conflictRounds = 8;

/** Cancellation codes of transactions that a retry may complete. */
const passing = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Milliseconds. */
const longestPause = 2000;
