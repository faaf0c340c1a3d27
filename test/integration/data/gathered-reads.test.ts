import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { tableReader } from '../../../shared/data/table/table.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import { testEnvironment } from '../../support/service.ts';

/** A table with a client of its own, and the names of the requests that were sent by it. */
async function tableOfItsOwn() {
  const environment = await testEnvironment();
  const endpoint = environment['DYNAMODB_ENDPOINT'] ?? '';
  const region = environment['AWS_REGION'] ?? '';
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region }));
  const sent: string[] = [];
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        sent.push(commandName ?? '');
        return next(args);
      },
    { step: 'initialize' },
  );
  const name = environment['RECORDS_TABLE'] ?? '';
  const accounts = tableWriter(client, 'accounts', environment['ACCOUNTS_TABLE'] ?? '');
  return { client, name, sent, accounts, records: tableWriter(client, 'records', name) };
}

const key = (index: number) => ({ pk: 'GATHERED', sk: String(index) });

test('reads of one moment go as one request, by whichever reader, and an item that two want once', async () => {
  const { client, name, sent, records } = await tableOfItsOwn();
  await records.write({ put: { ...key(1), is: 'there' } });
  const other = tableReader(client, 'records', name);
  const found = await Promise.all([
    records.get(key(1)),
    records.get(key(2)),
    other.get(key(1)),
    other.batchGet([key(3), key(1)]),
  ]);
  const item = { ...key(1), is: 'there' };
  expect(found).toEqual([item, undefined, item, [undefined, item]]);
  expect(sent).toEqual(['TransactWriteItemsCommand', 'BatchGetItemCommand']);
  expect(await records.get(key(1))).toEqual(item);
  expect(sent.at(-1)).toBe('GetItemCommand');
});

test.each([
  { what: 'too long', sk: 'x'.repeat(1025) },
  { what: 'too long in bytes', sk: '𝕬'.repeat(300) },
  { what: 'empty', sk: '' },
])('a key that is $what has no item, and harms no other read of its moment', async ({ sk }) => {
  const { records } = await tableOfItsOwn();
  await records.write({ put: { ...key(1), is: 'there' } });
  const bad = { ...key(1), sk };

  const items = await Promise.all([records.get(key(1)), records.get(bad), records.get(key(2))]);

  expect(items.map((item) => item?.['is'])).toEqual(['there', undefined, undefined]);
  expect([await records.get(bad), await records.peek(bad)]).toEqual([undefined, undefined]);
});

test('reads of two tables go as one request, too, and each finds the item of its own', async () => {
  const { sent, accounts, records } = await tableOfItsOwn();
  await records.write({ put: { ...key(1), is: 'a record' } });
  await accounts.write({ put: { ...key(1), is: 'an account' } });
  const found = await Promise.all([
    accounts.get(key(1)),
    records.get(key(1)),
    records.get(key(2)),
    accounts.get(key(2)),
  ]);
  expect(found.map((item) => item?.['is'])).toEqual(['an account', 'a record', undefined, undefined]);
  expect(sent.slice(2)).toEqual(['BatchGetItemCommand']);
});

test('a read that begins after a write sees it, though another of the same item is under way', async () => {
  const { records } = await tableOfItsOwn();
  const before = records.get(key(1));
  await records.write({ put: { ...key(1), is: 'there' } });
  expect(await records.get(key(1))).toEqual({ ...key(1), is: 'there' });
  await before;
});

test('more keys than a request takes are read by several, in their order', async () => {
  const { records, sent } = await tableOfItsOwn();
  const indexes = Array.from({ length: 150 }, (_, index) => index);
  await records.write(...indexes.slice(50, 150).map((index) => ({ put: { ...key(index), index } })));
  const found = await records.batchGet(indexes.map(key));
  expect(found.map((item) => item?.['index'])).toEqual(
    indexes.map((index) => (index < 50 ? undefined : index)),
  );
  expect(sent.slice(1)).toEqual(['BatchGetItemCommand', 'BatchGetItemCommand']);
});

test('a failure reaches everybody who waits, and nobody later', async () => {
  const { client, records } = await tableOfItsOwn();
  const absent = tableReader(client, 'records', 'no-such-table');
  const failed = await Promise.allSettled([absent.get(key(1)), absent.get(key(2)), records.get(key(1))]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  await expect(absent.get(key(1))).rejects.toThrow();
});
