import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as z from 'zod';
import { jobPartition } from '../jobs/job.ts';
import { Bytes, recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

/** A part of a packed receipt: an item takes 400 KB. */
const part = recordType('receipt', () => z.object({ packed: Bytes }));
const partBytes = 300_000;
/** What a receipt takes packed, so that one transaction writes it (4 MB) beside the end of its job. */
const maxPacked = 3_000_000;
/** What a receipt takes as JSON, so that one answer holds it. */
const maxJson = 4_000_000;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const partKey = (job_id: string, index: number): Key => ({
  pk: jobPartition(job_id),
  sk: `RECEIPT#${String(index).padStart(2, '0')}`,
});

/** The writes that store the receipt of a job, packed; undefined for one too large to be kept. */
export async function putReceipt(job_id: string, receipt: unknown): Promise<Write[] | undefined> {
  const json = JSON.stringify(receipt);
  if (Buffer.byteLength(json) > maxJson) return undefined;
  const packed = await compress(json);
  if (packed.length > maxPacked) return undefined;
  const parts = Array.from({ length: Math.ceil(packed.length / partBytes) }, (_, index) =>
    packed.subarray(index * partBytes, (index + 1) * partBytes),
  );
  return parts.map((bytes, index) => ({ put: part.item(partKey(job_id, index), { packed: bytes }) }));
}

/** The receipt of a job, which was stored in so many parts; undefined once it is being removed. */
export async function readReceipt(
  records: TableReader<'records'>,
  job_id: string,
  parts: number,
): Promise<unknown> {
  const keys = Array.from({ length: parts }, (_, index) => partKey(job_id, index));
  const items = await records.batchGet(keys);
  const found = items.filter((item) => item !== undefined);
  if (parts === 0 || found.length < parts) return undefined;
  const packed = Buffer.concat(found.map((item) => part.parse(item).packed));
  return JSON.parse((await decompress(packed)).toString('utf8'));
}
