import * as z from 'zod';
import { recordType } from '../table/record.ts';
import { type Key, readPage, type TableReader, type Write } from '../table/table.ts';
import { servedPartition } from './serving.ts';

/** Buckets of latencies. Each ends at 2^(1/4) times the end of the one before, so a quantile is within 10 %. */
export const latencyBuckets = 72;

const firstBucketMilliseconds = 0.25;

/** Return the bucket of a latency in milliseconds. */
export const latencyBucket = (milliseconds: number): number =>
  Math.min(
    latencyBuckets - 1,
    Math.max(
      0,
      Math.ceil(4 * Math.log2(Math.max(milliseconds, firstBucketMilliseconds) / firstBucketMilliseconds)),
    ),
  );

const bucketName = (bucket: number): string => `latency_${bucket}`;

const counts = recordType('serving-counts', () =>
  z.object({
    month: z.string(),
    name: z.string(),
    requests: z.number().default(0),
    errors: z.number().default(0),
    cold_starts: z.number().default(0),
    /** Milliseconds of the function, each request rounded up as Lambda does. */
    billed_milliseconds: z.number().default(0),
    ...Object.fromEntries(
      Array.from({ length: latencyBuckets }, (_, bucket) => [bucketName(bucket), z.number().default(0)]),
    ),
  }),
);

export const parseServingCounts = counts.parse;

/** Counters of one version in one month. */
export interface ServingCounts {
  requests: number;
  errors: number;
  cold_starts: number;
  billed_milliseconds: number;
  /** Requests by bucket of their latency. */
  latencies: Readonly<Record<number, number>>;
}

/** Calendar month in UTC, such as `2026-11`. */
export const monthOf = (time: Date): string => time.toISOString().slice(0, 7);

const countsPrefix = (month: string): string => `COUNTS#${month}#`;

/** Build the write that adds to the counters of a version. */
export function addServingCounts(model_id: string, month: string, name: string, added: ServingCounts): Write {
  const { latencies, ...totals } = added;
  const key: Key = { pk: servedPartition(model_id), sk: `${countsPrefix(month)}${name}` };
  return {
    update: key,
    change: {
      set: { record_type: counts.kind, schema_version: 0, month, name },
      add: {
        ...totals,
        ...Object.fromEntries(
          Object.entries(latencies).map(([bucket, count]) => [bucketName(Number(bucket)), count]),
        ),
      },
    },
  };
}

/** Return the counters of a month by version. */
export async function readServingCounts(
  records: TableReader<'records'>,
  model_id: string,
  month: string,
): Promise<Map<string, ServingCounts>> {
  const found = await records.query({ pk: servedPartition(model_id), prefix: countsPrefix(month) });
  const { items } = readPage(found, counts.parse);
  return new Map(
    items.map(({ name, requests, errors, cold_starts, billed_milliseconds, ...item }) => {
      const own: Readonly<Record<string, unknown>> = item;
      const latencies = Array.from({ length: latencyBuckets }, (_, bucket) => {
        const count = own[bucketName(bucket)];
        return [bucket, typeof count === 'number' ? count : 0] as const;
      });
      const used = Object.fromEntries(latencies.filter(([, count]) => count > 0));
      return [name, { requests, errors, cold_starts, billed_milliseconds, latencies: used }];
    }),
  );
}

/** Return a quantile of the latencies in milliseconds; null if nothing was measured. */
export function latencyQuantile(latencies: ServingCounts['latencies'], quantile: number): number | null {
  const buckets = Object.entries(latencies)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = total * quantile;
  for (const [bucket, count] of buckets) {
    left -= count;
    // The middle of the bucket, on the scale of the buckets.
    if (left <= 0) return Math.round(firstBucketMilliseconds * 2 ** ((bucket - 0.5) / 4) * 100) / 100;
  }
  return null;
}
