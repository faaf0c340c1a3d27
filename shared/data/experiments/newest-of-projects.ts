import * as z from 'zod';
import { isFinal, jobStatuses } from '../jobs/job-status.ts';
import { type Counters, countersKey, salvageCounters } from '../projects/project.ts';
import { recordType } from '../table/record.ts';
import {
  type Item,
  type Key,
  pageOf,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { cataloguePartition } from './catalogue-mark.ts';
import { NewestTimes, newestOfAll } from './segment-choice.ts';

/**
 * Newest times of the experiments of a project, by status, so that a search of many projects reads only those that its page
 * needs. A search notes them with a stamp that it read first. They hold while the stamp is the same: whatever begins or ends an
 * experiment changes the stamp in the same transaction.
 */
const record = recordType('catalogue-newest', () => z.object({ stamp: z.string(), newest: NewestTimes }));

export const parseNewest = record.parse;

const newestKey = (project_id: string): Key => ({ pk: cataloguePartition(project_id), sk: 'NEWEST' });

/** Times of a project. */
export interface TimesOfProject {
  /** Stamp of the project before the read of its experiments. Undefined while nothing can be noted. */
  stamp: string | undefined;
  /** Undefined if they have to be read. */
  newest: NewestTimes | undefined;
}

/** Read the noted times of projects. It takes a batch of reads per 50 projects. */
export async function readNewestOfProjects(
  records: TableReader<'records'>,
  project_ids: readonly string[],
): Promise<Map<string, TimesOfProject>> {
  const [counted, noted] = await Promise.all([
    records.batchGet(project_ids.map(countersKey)),
    records.batchGet(project_ids.map(newestKey)),
  ]);
  return new Map(project_ids.map((project_id, index) => [project_id, timesOf(counted[index], noted[index])]));
}

function timesOf(counted: Item | undefined, noted: Item | undefined): TimesOfProject {
  if (counted === undefined) return { stamp: undefined, newest: undefined };
  const counters = salvageCounters(counted);
  if (counters.experiments === 0) return { stamp: undefined, newest: {} };
  const stamp = stampOf(counters);
  const [known] = readPage(pageOf(noted), parseNewest).items;
  return { stamp, newest: known?.stamp === stamp ? known.newest : undefined };
}

/**
 * Every job that begins or ends raises `ended`, or its sum with `unfinished`. All other experiments raise `logged_changes`.
 * Earlier releases do not count these, but count experiments.
 */
const stampOf = ({ experiments, unfinished, ended, logged_changes }: Counters): string =>
  [experiments, unfinished, ended, logged_changes].join();

/** Times to note for a project. */
export interface NewestToNote {
  project_id: string;
  stamp: string;
  newest: NewestTimes;
}

/** Note the times of projects for the next search. It never throws, because that search can do without. */
export async function noteNewestOfProjects(
  records: TableWriter<'records'>,
  toNote: readonly NewestToNote[],
): Promise<void> {
  // Searches of one moment find the same.
  const fresh = toNote.filter(({ project_id, stamp }) => noted.get(project_id) !== stamp);
  if (noted.size > maxNoted) noted.clear();
  for (const { project_id, stamp } of fresh) noted.set(project_id, stamp);
  for (let from = 0; from < fresh.length; from += maxWrites) {
    const some = fresh.slice(from, from + maxWrites);
    await records.write(...some.map(putNewest)).catch(() => {
      for (const { project_id } of some) noted.delete(project_id);
    });
  }
}

const putNewest = ({ project_id, stamp, newest }: NewestToNote): Write => ({
  put: record.item(newestKey(project_id), { stamp, newest: withUnfinished(newest) }),
});

/** A job changes its status without a change of the stamp until it ends, so times of one such status are those of all. */
function withUnfinished(newest: NewestTimes): NewestTimes {
  const statuses = jobStatuses.filter((status) => !isFinal(status));
  const known = statuses.flatMap((status) => newest[status] ?? []).map((times) => ({ any: times }));
  const { any } = newestOfAll(known) ?? {};
  return any === undefined
    ? newest
    : { ...newest, ...Object.fromEntries(statuses.map((status) => [status, any])) };
}

/** Stamps that this process has noted, by project. */
const noted = new Map<string, string>();
const maxNoted = 10_000;

/** Maximum writes of a transaction. */
const maxWrites = 100;
