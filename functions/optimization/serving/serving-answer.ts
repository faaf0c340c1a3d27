import * as z from 'zod';
import { FileId, Sha256, Timestamp, Ulid } from '../../../shared/core/formats.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { type Serving, ServingAccess } from '../../../shared/data/models/serving.ts';
import {
  latencyQuantile,
  monthOf,
  readServingCounts,
  type ServingCounts,
} from '../../../shared/data/models/serving-counts.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { monthlyCost, requestCost } from './serving-cost.ts';

const count = z.number().int();

/** Counters of a version in this month. */
const Counters = z.object({
  requests: count,
  errors: count,
  cold_starts: count,
  /** Milliseconds of the function, without the network. Null without requests. */
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  /** US$ of this month until now; null where compute is free. */
  cost: z.number().nullable(),
});

export const ServingDetails = z
  .object({
    model_name: FileId,
    model_id: Ulid,
    access: ServingAccess,
    requests_per_second: count,
    memory: count.nullable(),
    max_batch: count,
    warm: z.boolean(),
    default_version: FileId,
    versions: z.array(
      z.object({
        version: FileId,
        sha256: Sha256,
        bytes: count,
        withdrawn: z.string().nullable(),
        counters: Counters,
      }),
    ),
    aliases: z.record(z.string(), z.string()),
    /** Month of the counters, in UTC. */
    month: z.string(),
    /** Estimates in US$: of a month at the rate of this one, and of a million requests at their present duration. */
    estimate: z.object({ month: z.number().nullable(), million_requests: z.number().nullable() }),
    /** US$ that strangers can cause in a month at most, with one instance that answers at its rate. */
    strangers_month: z.number().nullable(),
    /** What callers without an account share with the service; null if they have instances of their own, and on one machine. */
    concurrency: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Serving' });

const noCounts: ServingCounts = {
  requests: 0,
  errors: 0,
  cold_starts: 0,
  billed_milliseconds: 0,
  latencies: {},
};

/** Milliseconds of a request for estimates before there are any. */
const usualMilliseconds = 20;

const secondsOfMonth = 30 * 24 * 3600;

/** A served model with its counters. */
export async function showServing(
  serving: Serving,
  { records, now, settings }: { records: TableReader<'records'>; now(): Date; settings: Settings },
): Promise<z.input<typeof ServingDetails>> {
  const time = now();
  const month = monthOf(time);
  const counted = await readServingCounts(records, serving.model_id, month);
  const price = (requests: number, milliseconds: number) => requestCost(settings, requests, milliseconds);
  const all = [...counted.values()];
  const requests = all.reduce((sum, one) => sum + one.requests, 0);
  const milliseconds = all.reduce((sum, one) => sum + one.billed_milliseconds, 0);
  const each = requests === 0 ? usualMilliseconds : milliseconds / requests;
  return {
    ...serving,
    versions: Object.entries(serving.versions)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([version, { digest, bytes, withdrawn }]) => {
        const counts = counted.get(version) ?? noCounts;
        return {
          version,
          sha256: digest,
          bytes,
          withdrawn,
          counters: {
            requests: counts.requests,
            errors: counts.errors,
            cold_starts: counts.cold_starts,
            p50_ms: latencyQuantile(counts.latencies, 0.5),
            p95_ms: latencyQuantile(counts.latencies, 0.95),
            cost: price(counts.requests, counts.billed_milliseconds),
          },
        };
      }),
    month,
    estimate: {
      month: monthlyCost(price(requests, milliseconds), new Date(serving.created_at), time),
      million_requests: price(1_000_000, 1_000_000 * each),
    },
    strangers_month:
      serving.access === 'anyone'
        ? price(
            serving.requests_per_second * secondsOfMonth,
            serving.requests_per_second * secondsOfMonth * each,
          )
        : 0,
    concurrency: sharedConcurrency(serving, settings),
  };
}

function sharedConcurrency(
  { access }: Serving,
  { concurrentFunctions, jobsRunAs, serving }: Settings,
): string | null {
  if (access !== 'anyone' || jobsRunAs === 'processes' || serving.concurrency !== undefined) return null;
  const quota = concurrentFunctions === undefined ? 'quota of' : String(concurrentFunctions);
  return `Callers without an account share the account's ${quota} concurrent functions with the whole service: while so many requests run, all others get 503. Ask AWS for a higher quota, and deploy with servingConcurrency.`;
}
