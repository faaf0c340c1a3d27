import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { notFound, ServiceError } from '../../core/service-error.ts';
import { tokenOrigin } from '../accounts/ci-run.ts';
import { KeptInputs } from '../jobs/kept-inputs.ts';
import { Criterion } from '../projects/project.ts';
import { recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';

const sweep = recordType('sweep', () =>
  z.object({
    sweep_id: Ulid,
    project_id: Ulid,
    /** User who began it. Its experiments count for this user. */
    user_id: Ulid,
    /** The token that began it, or let it go on or asked for a trial last. Its experiments have the same. */
    ...tokenOrigin(),
    name: z.string(),
    note: z.string().nullable(),
    status: SweepStatus,
    status_reason: z.string().nullable(),
    /**
     * Its file as JSON. `shared/sweeps/spec.ts` has the schema. A table has no number that is as small as a range may
     * be, and would lose the order of the parameters.
     */
    spec: z.string(),
    criterion: Criterion,
    /** Number of configurations. */
    trials: z.number().int(),
    /** Inputs of all its experiments, which never change. Its copy of the configuration is that of a job. */
    inputs: KeptInputs,
    /** Runs that were begun a first time: all with a lower number. */
    begun: z.number().int(),
    /** Numbers of the runs to begin again, in their order. */
    again: z.array(z.number().int()),
    /** Runs that have not ended. */
    running: z.array(z.object({ run: z.number().int(), experiment_id: Ulid })),
    counts: SweepCounts,
    /** How its first runs ended, until there are three. A resumption begins anew. */
    first: z.array(z.object({ reason: z.string().nullable(), names: z.array(z.string()).nullable() })),
    /** Best trial so far, as JSON. Null if none has a value. */
    best: z.string().nullable(),
    /** US dollars of the runs that have ended. */
    spent: z.number(),
    /** US dollars of one run: of its longest attempt. Null without a price. */
    run_cost: z.number().nullable(),
    /** Median seconds of earlier experiments with its configuration. Null if there are none. */
    run_seconds: z.number().nullable(),
    /** Number of decisions so far. Ends and beginnings of runs carry it, so each decision's inputs are known. */
    decisions: z.number().int(),
    /** Number of reports that name it, which keep it from being deleted. Absent if none ever did. */
    reports: z.number().int().optional(),
    /** Time at which its deletion began. The record goes once its runs have ended. */
    deleting: z.enum(['sweep', 'experiments']).optional(),
    /** Name of the user who cancelled it. */
    cancelled_by: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    ended_at: Timestamp.nullable(),
    version: z.number().int(),
  }),
);
/**
 * A sweep: its file, and how far it is. Whatever ends a run, or lets the sweep go on, reads this record and replaces it
 * with the next state on condition of its version, in the transaction that records the experiment of the next run.
 */
export type Sweep = z.infer<typeof sweep.schema>;

export const SweepStatus = z.enum(['RUNNING', 'PAUSED', 'COMPLETED', 'CANCELLED', 'FAILED']);
export type SweepStatus = z.infer<typeof SweepStatus>;

/** Values of a trial by parameter. */
export const TrialParams = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** Ended runs by outcome. */
export const SweepCounts = z.object({
  complete: z.number().int(),
  stopped_early: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
});

export const sweepsPartition = (project_id: string): string => `SWEEPS#${project_id}`;
const sweepKey = (project_id: string, sweep_id: string): Key => ({
  pk: sweepsPartition(project_id),
  sk: sweep_id,
});

export const findSweep = (
  records: TableReader<'records'>,
  project_id: string,
  sweep_id: string,
): Promise<Sweep | undefined> => sweep.find(records, sweepKey(project_id, sweep_id));

/** Return a sweep that is not being deleted. @throws ServiceError `not-found` */
export async function requireSweep(
  records: TableReader<'records'>,
  project_id: string,
  sweep_id: string,
): Promise<Sweep> {
  const found = await findSweep(records, project_id, sweep_id);
  if (found === undefined || found.deleting !== undefined) throw notFound('sweep', sweep_id);
  return found;
}

/** Return a page of the sweeps of a project, newest first. */
export async function listSweeps(
  records: TableReader<'records'>,
  project_id: string,
  page: { limit: number; after: string | undefined },
): Promise<Page<Sweep>> {
  const found = await records.query({ pk: sweepsPartition(project_id), descending: true, ...page });
  const { items, ...rest } = readPage(found, sweep.parse);
  return { ...rest, items: items.filter(({ deleting }) => deleting === undefined) };
}

/** Build the write that stores a new sweep. */
export const putSweep = (value: Sweep): Write => ({
  put: sweep.item(sweepKey(value.project_id, value.sweep_id), value),
  if: { exists: false },
});

/** Label of writes that fail if a sweep has changed since it was read. */
export const changedSweep = new WriteLabel('sweep');

/** Build the write that replaces a sweep with its next state. It fails if the sweep has changed since the read. */
export const replaceSweep = (before: Sweep, next: Sweep, now: Date): Write =>
  changedSweep.on({
    put: sweep.item(sweepKey(before.project_id, before.sweep_id), {
      ...next,
      updated_at: now.toISOString(),
      version: before.version + 1,
    }),
    if: { equals: { version: before.version } },
  });

/**
 * Build the writes that lock the sweeps that a report begins to name, and release the others.
 * @throws ServiceError `conflict` if a sweep that it begins to name was deleted meanwhile
 */
export async function lockSweeps(
  records: TableReader<'records'>,
  project_id: string,
  before: readonly string[],
  after: readonly string[],
  now: Date,
): Promise<Write[]> {
  const changed = [...before, ...after].filter((id) => before.includes(id) !== after.includes(id));
  const writes = changed.map(async (id): Promise<Write[]> => {
    const isAdded = after.includes(id);
    const present = await findSweep(records, project_id, id);
    if (isAdded && (present === undefined || present.deleting !== undefined))
      throw new ServiceError('conflict', `Sweep ${id} was deleted at the same time.`);
    if (present === undefined) return [];
    const reports = Math.max(0, (present.reports ?? 0) + (isAdded ? 1 : -1));
    return [replaceSweep(present, { ...present, reports }, now)];
  });
  return (await Promise.all(writes)).flat();
}

/** Build the write that removes a sweep. It fails if the sweep has changed since the read. */
export const removeSweep = ({ project_id, sweep_id, version }: Sweep): Write =>
  changedSweep.on({ delete: sweepKey(project_id, sweep_id), if: { equals: { version } } });
