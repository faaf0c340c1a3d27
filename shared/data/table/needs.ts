import { dynamoDb } from '../../aws/dynamodb-client.ts';
import { callFunction } from '../../aws/signed/call-function.ts';
import { type Need, within } from '../../core/needs.ts';
import type { Settings } from '../../core/settings.ts';
import { noticePartition } from '../hooks/notice-partition.ts';
import { type TableReader, type TableWriter, tableReader, type Write } from './table.ts';
import { tableWriter } from './table-writer.ts';

function accountsTable({ accountsTable: name }: Settings): string {
  if (name === undefined)
    throw new Error('ACCOUNTS_TABLE is not set, so this process has no access to accounts');
  return name;
}

/** Reads of records: projects, experiments, models and all other data except accounts. */
export const readRecords: Need<TableReader<'records'>> = {
  resource: 'records',
  level: 'read',
  open: ({ environment, settings }) => tableReader(dynamoDb(environment), 'records', settings.recordsTable),
};

/** Reads and writes of records. A transaction with notices for hooks calls the function that sends them, if there is one. */
export const writeRecords: Need<TableWriter<'records'>> = {
  resource: 'records',
  level: 'write',
  open({ environment, settings: { recordsTable, notifyFunction } }) {
    const client = dynamoDb(environment);
    if (notifyFunction === undefined) return tableWriter(client, 'records', recordsTable);
    const notify = callFunction(environment, notifyFunction, client.config.credentials);
    const isNotice = (write: Write) => 'put' in write && write.put.pk === noticePartition;
    return tableWriter(client, 'records', recordsTable, async (writes) => {
      if (writes.some(isNotice)) await notify();
    });
  },
};

/** Writes to the partitions of jobs, for example the mark that a client reads a job's log. */
export const markJobs = /* @__PURE__ */ within(writeRecords, { partitions: ['JOB#*'] });

/** Writes of the catalogues that searches read. A search folds the marks that it has read. */
export const foldCatalogues = /* @__PURE__ */ within(writeRecords, { partitions: ['CATALOGUE#*'] });

/** Appends to records and to accounts: the writers of the table add them to their transactions (`audited-writer.ts`). */
export const appendRecords: Need<undefined> = { resource: 'records', level: 'append', open: () => undefined };
export const appendAccounts: Need<undefined> = {
  resource: 'accounts',
  level: 'append',
  open: () => undefined,
};

/** Reads of users and tokens. */
export const readAccounts: Need<TableReader<'accounts'>> = {
  resource: 'accounts',
  level: 'read',
  open: ({ environment, settings }) =>
    tableReader(dynamoDb(environment), 'accounts', accountsTable(settings)),
};

/** Reads and writes of users and tokens. */
export const writeAccounts: Need<TableWriter<'accounts'>> = {
  resource: 'accounts',
  level: 'write',
  open: ({ environment, settings }) =>
    tableWriter(dynamoDb(environment), 'accounts', accountsTable(settings)),
};
