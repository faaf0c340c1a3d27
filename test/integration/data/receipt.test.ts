import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../shared/core/new-id.ts';
import { putReceipt, readReceipt } from '../../../shared/data/models/compression.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { type TestService, testService } from '../../support/service.ts';

const randomBytes = seededBytes(1);

let service: TestService;
beforeAll(async () => {
  service = await testService();
});

const noise = (bytes: number) => ({ layers: [randomBytes(bytes / 2).toString('hex')] });

test.each([
  ['small', { notes: ['ä'] }, 1],
  ['of many parts', noise(2_000_000), 4],
])('a receipt that is %s comes back as it was', async (_, receipt, parts) => {
  const job_id = newId();
  const writes = (await putReceipt(job_id, receipt)) ?? [];
  expect(writes).toHaveLength(parts);
  await service.records.write(...writes);
  expect(await readReceipt(service.records, job_id, parts)).toEqual(receipt);
});

test('one that is too large is not kept', async () => {
  expect(await putReceipt(newId(), noise(4_000_001))).toBeUndefined();
});

test('what is partly removed is not there', async () => {
  const job_id = newId();
  const writes = (await putReceipt(job_id, noise(1_000_000))) ?? [];
  await service.records.write(...writes.slice(1));
  expect(await readReceipt(service.records, job_id, writes.length)).toBeUndefined();
  expect(await readReceipt(service.records, job_id, 0)).toBeUndefined();
});
