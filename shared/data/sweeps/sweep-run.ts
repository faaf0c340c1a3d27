import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { pagesOf } from '../table/pages-of.ts';
import { Bytes, recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';

const run = recordType('sweep-run', () =>
  z.object({
    /** Number in the sweep, from 0: `trial × repeats + repeat - 1`. */
    run: z.number().int(),
    /** Number of its configuration, from 0. */
    trial: z.number().int(),
    /** Number of the repeat, from 1. */
    repeat: z.number().int(),
    /** Values of the parameters as JSON, in their order. */
    params: z.string(),
    /** Experiments of the run. More than one if it failed and was tried again, or went on after its budget. */
    tries: z.array(RunTry).min(1),
  }),
);
/** One run of a sweep: one repeat of a trial. */
export type SweepRun = z.infer<typeof run.schema>;

/** Outcome of a run. */
export const RunOutcome = z.enum(['complete', 'stopped early', 'failed', 'cancelled']);
export type RunOutcome = z.infer<typeof RunOutcome>;

const RunTry = z.object({
  experiment_id: Ulid,
  /** Number of the decision that began it: it saw all ends with lower numbers. */
  begun: z.number().int(),
  /** Number of the decision that took its end in. Null while it runs. */
  ended: z.number().int().nullable(),
  outcome: RunOutcome.nullable(),
  status_reason: z.string().nullable(),
  /** Best value of the metric as text, because a table has no NaN. Null if there is none. */
  value: z.string().nullable(),
  step: z.number().nullable(),
  /** Last value of the metric, as text. Null if there is none, and in records of earlier releases. */
  last: z.string().nullable().default(null),
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  /** US dollars. Null without a price. */
  cost: z.number().nullable(),
});
export type RunTry = z.infer<typeof RunTry>;

/** Return the current try of a run. */
export function lastTry({ tries }: SweepRun): RunTry {
  const last = tries.at(-1);
  if (last === undefined) throw new Error('a run without a try');
  return last;
}

/** Partition of the runs of all sweeps of a project. */
export const runsPartition = (project_id: string): string => `SWEEP_RUNS#${project_id}`;

/** Ids of a sweep. */
export interface SweepIds {
  project_id: string;
  sweep_id: string;
}

/** Prefix of the sort keys of everything about a sweep in the partitions of its project. */
export const sweepPrefix = ({ sweep_id }: Pick<SweepIds, 'sweep_id'>): string => `${sweep_id}#`;

const runPrefix = (sweep: SweepIds): string => `${sweepPrefix(sweep)}RUN#`;

const runKey = (sweep: SweepIds, number: number): Key => ({
  pk: runsPartition(sweep.project_id),
  sk: `${runPrefix(sweep)}${String(number).padStart(6, '0')}`,
});

/** Return the sort key of a run, after which the next page of a list starts. */
export const sortKeyOfRun = (sweep: SweepIds, number: number): string => runKey(sweep, number).sk;

/** Return the runs of these numbers. A missing one is undefined. */
export async function findRuns(
  records: TableReader<'records'>,
  sweep: SweepIds,
  numbers: readonly number[],
): Promise<(SweepRun | undefined)[]> {
  const items = await records.batchGet(numbers.map((number) => runKey(sweep, number)));
  return items.map((item) => item && run.parse(item));
}

/** Return a page of the runs of a sweep, by number. */
export async function listRuns(
  records: TableReader<'records'>,
  sweep: SweepIds,
  page: { limit?: number; after?: string | undefined; descending?: boolean },
): Promise<Page<SweepRun>> {
  return readPage(
    await records.query({ pk: runsPartition(sweep.project_id), prefix: runPrefix(sweep), ...page }),
    run.parse,
  );
}

/** Return all runs of a sweep, of which there are at most 10,000. */
export async function allRuns(records: TableReader<'records'>, sweep: SweepIds): Promise<SweepRun[]> {
  const found: SweepRun[] = [];
  for await (const page of pagesOf((after) => listRuns(records, sweep, { after }))) {
    found.push(...page.items);
  }
  return found;
}

/** Build the write that stores a run. The sweep's own write in the same transaction has the condition. */
export const putRun = (sweep: SweepIds, value: SweepRun): Write => ({
  put: run.item(runKey(sweep, value.run), value),
});

/** Build the write that removes a run of a sweep that is being deleted. */
export const removeRun = (sweep: SweepIds, { run: number }: SweepRun): Write => ({
  delete: runKey(sweep, number),
});

const config = recordType('sweep-config', () => z.object({ content: Bytes }));
const configKey = (sweep: SweepIds): Key => ({
  pk: runsPartition(sweep.project_id),
  sk: `${sweepPrefix(sweep)}CONFIG`,
});

/** Build the write that keeps the configuration that all experiments of a sweep are made of. */
export const putSweepConfig = (sweep: SweepIds, content: Uint8Array): Write => ({
  put: config.item(configKey(sweep), { content }),
});

export const readSweepConfig = async (
  records: TableReader<'records'>,
  sweep: SweepIds,
): Promise<Uint8Array | undefined> => (await config.find(records, configKey(sweep)))?.content;
