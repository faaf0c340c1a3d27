import type { Limits } from '../../core/settings.ts';
import { placesOf, userLimitKey } from '../../data/jobs/job.ts';
import { lineKey, lineOf, parseLine, positionOf } from '../../data/jobs/waiting-line.ts';
import type { Item, Key, TableReader } from '../../data/table/table.ts';
import { type JobRecord, unfinishedJobOf } from '../subject.ts';

/** Keys that one read takes. */
const keysAtOnce = 100;

const words = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** An ordinal number: in words up to `tenth`, then `11th`, `12th` and so on. */
export function ordinal(number: number): string {
  const tens = number % 100;
  const isTeen = tens > 10 && tens < 20;
  const suffix = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return words[number - 1] ?? `${number}${suffix}`;
}

/** Why a job waits, and where it stands in its line. */
function reasonInLine(
  job: JobRecord,
  position: number,
  places: number,
  { unfinishedJobs, vcpus }: Pick<Limits, 'unfinishedJobs' | 'vcpus'>,
): string {
  const stands = `this is ${ordinal(position)} in line.`;
  if (places >= unfinishedJobs) return `${places} of your jobs run; ${stands}`;
  if (unfinishedJobOf(job).cluster_owner !== null)
    return `Waits until the clusters of other owners have ended and ${vcpus} vCPUs leave room for it; ${stands}`;
  return `All jobs together may have ${vcpus} vCPUs, and those are taken; ${stands}`;
}

async function readAll(records: TableReader<'records'>, keys: readonly Key[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  for (let from = 0; from < keys.length; from += keysAtOnce)
    for (const item of await records.batchGet(keys.slice(from, from + keysAtOnce)))
      if (item !== undefined) found.set(`${item.pk}/${item.sk}`, item);
  return found;
}

/** A job, with its position in line where it waits. */
export type Placed<J> = J & { place_in_line?: number | null };

/** Say of each of these jobs that waits why, and where it stands. One read for all, and none where none waits. */
export async function placeInLine<J extends JobRecord>(
  records: TableReader<'records'>,
  limits: Pick<Limits, 'unfinishedJobs' | 'vcpus'>,
  jobs: readonly J[],
): Promise<Placed<J>[]> {
  const keysOf = (job: JobRecord) => ({
    line: lineKey(lineOf(unfinishedJobOf(job))),
    user: userLimitKey(job.user_id),
  });
  const nameOf = ({ pk, sk }: Key) => `${pk}/${sk}`;
  const wanted = new Map<string, Key>();
  for (const job of jobs)
    if (job.line_ticket !== null) for (const key of Object.values(keysOf(job))) wanted.set(nameOf(key), key);
  if (wanted.size === 0) return [...jobs];
  const found = await readAll(records, [...wanted.values()]);
  return jobs.map((job) => {
    const keys = keysOf(job);
    const line = job.line_ticket === null ? undefined : parseLine(found.get(nameOf(keys.line)));
    if (line === undefined || job.line_ticket === null) return job;
    const place_in_line = positionOf(line, job.line_ticket);
    const places = placesOf(found.get(nameOf(keys.user)));
    return { ...job, place_in_line, status_reason: reasonInLine(job, place_in_line, places, limits) };
  });
}

/** Say it of one job. */
export async function placeOneInLine<J extends JobRecord>(
  records: TableReader<'records'>,
  limits: Pick<Limits, 'unfinishedJobs' | 'vcpus'>,
  job: J,
): Promise<Placed<J>> {
  const [placed = job] = await placeInLine(records, limits, [job]);
  return placed;
}
