import * as z from 'zod';
import { newId } from '../../core/new-id.ts';
import { pagesOf } from '../table/pages-of.ts';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';

/**
 * Tail of a project's catalogue: a mark for each experiment whose row in a segment may be outdated. A search reads
 * the records of these experiments. A new experiment has a mark. Every write that changes the search row of an
 * experiment checks the mark or puts it. (Only a job changes its experiment without a check: a training that leaves its
 * line has a mark until it has ended.) So an experiment is folded into a segment only while nobody changes it.
 * Folding replaces the mark's stamp before it reads the experiment, so changes that saw the former stamp fail.
 */
const mark = recordType('catalogue-mark', () =>
  z.object({
    stamp: z.string(),
    /** Whether the experiment is being folded into a segment. A change must then replace the stamp. */
    folding: z.boolean(),
    /** Whether a segment may hold a row of the experiment. */
    folded: z.boolean(),
    /** Whether the experiment was deleted. */
    removed: z.boolean(),
    /** Whether the experiment is too large for a segment, so it stays in the tail. */
    large: z.boolean(),
  }),
);
export type CatalogueMark = z.infer<typeof mark.schema> & { experiment_id: string };

/**
 * Label of the check of a changed experiment's mark. The check fails if the experiment is folded at the same time.
 */
export const catalogueMark = new WriteLabel('mark in the catalogue');

/** Return the partition of a project's catalogue: its manifest, segments and marks. */
export const cataloguePartition = (project_id: string): string => `CATALOGUE#${project_id}`;

/** Return the milliseconds since the mark got its stamp. */
export const markAge = ({ stamp }: CatalogueMark, now: number): number =>
  now - Number(stamp.slice(0, stamp.indexOf('-')));

/** Build the mark of a new experiment, for the transaction that records it. */
export const markNew = (project_id: string, experiment_id: string): Write =>
  put(project_id, experiment_id, {});

const put = (project_id: string, experiment_id: string, value: object): Write => ({
  put: mark.item(markKey(project_id, experiment_id), { ...fresh, ...value, stamp: newStamp() }),
});

const markKey = (project_id: string, experiment_id: string): Key => ({
  pk: cataloguePartition(project_id),
  sk: `${prefix}${experiment_id}`,
});

const prefix = 'TAIL#';

const fresh = { folding: false, folded: false, removed: false, large: false };

const newStamp = (): string => `${Date.now()}-${newId()}`;

/**
 * Build the write that marks a changed experiment. Call this before the experiment is read.
 * @returns `exists`: whether the write also ensures that the experiment exists
 */
export async function markChanged(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<{ write: Write; exists: boolean }> {
  const key = markKey(project_id, experiment_id);
  const item = await records.get(key);
  const present = item === undefined ? undefined : parse(item);
  if (present === undefined || present.folding || present.removed)
    return { write: put(project_id, experiment_id, { folded: present?.folded ?? true }), exists: false };
  const { stamp } = present;
  return { write: catalogueMark.on({ check: key, if: { equals: { stamp } } }), exists: true };
}

const parse = (item: Item): CatalogueMark => ({
  ...mark.parse(item),
  experiment_id: item.sk.slice(prefix.length),
});

/**
 * Build the write that marks a deleted experiment. Call this before the delete, and again if its condition fails.
 * @returns `remains`: whether a segment may keep its row until the next fold
 */
export async function markRemoved(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<{ write: Write; remains: boolean }> {
  const key = markKey(project_id, experiment_id);
  const item = await records.get(key);
  const present = item === undefined ? undefined : parse(item);
  if (present === undefined || present.folded)
    return { write: put(project_id, experiment_id, { removed: true, folded: true }), remains: true };
  return {
    write: catalogueMark.on({ delete: key, if: { equals: { stamp: present.stamp } } }),
    remains: false,
  };
}

/**
 * Build the mark of a training that leaves its line. While it waits nothing changes it, so it may be in a segment; a
 * fold of the same moment fails.
 */
export const markLeft = (project_id: string, experiment_id: string): Write =>
  put(project_id, experiment_id, { folded: true });

/**
 * Return up to `limit` marks of a project, from a random experiment on. The age of that experiment is as likely seconds as
 * days, so every mark is read now and then, also where thousands of experiments run.
 */
export async function readSomeMarks(
  records: TableReader<'records'>,
  project_id: string,
  limit: number,
): Promise<CatalogueMark[]> {
  const pk = cataloguePartition(project_id);
  const age = Math.floor(2 ** (Math.random() * maxAgeBits));
  const above = `${prefix}${newId(Math.max(0, Date.now() - age))}`;
  const later = await records.query({ pk, above, limit });
  const items = later.items.filter(({ sk }) => sk.startsWith(prefix));
  if (items.length < limit) {
    const first = await records.query({ pk, prefix, limit: limit - items.length });
    items.push(...first.items.filter(({ sk }) => sk < above));
  }
  return items.map(parse);
}

/** Milliseconds of two months, as a power of 2. */
const maxAgeBits = 32;

/** Read all marks of a project. */
export async function readMarks(
  records: TableReader<'records'>,
  project_id: string,
): Promise<CatalogueMark[]> {
  const marks: CatalogueMark[] = [];
  for await (const page of pagesOf((after) =>
    records.query({ pk: cataloguePartition(project_id), prefix, after }),
  )) {
    marks.push(...page.items.map(parse));
  }
  return marks;
}

/** Build the writes of the marks that these experiments lack. */
export async function findUnmarked(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
): Promise<Write[]> {
  const found = await records.batchGet(experiment_ids.map((id) => markKey(project_id, id)));
  return experiment_ids.flatMap((id, index) =>
    found[index] === undefined ? [{ ...markNew(project_id, id), if: { exists: false } }] : [],
  );
}

/** Build the write that begins to fold an experiment. Also return the mark after that write. */
export function beginFolding(project_id: string, old: CatalogueMark): { write: Write; mark: CatalogueMark } {
  const stamp = newStamp();
  const write: Write = {
    update: markKey(project_id, old.experiment_id),
    change: { set: { stamp, folding: true } },
    if: { equals: { stamp: old.stamp } },
  };
  return { write, mark: { ...old, stamp, folding: true } };
}

/** Build the write that ends folding. After it, the row in the segment is current. */
export const endFolding = (project_id: string, { experiment_id, stamp }: CatalogueMark): Write => ({
  delete: markKey(project_id, experiment_id),
  if: { equals: { stamp } },
});

/** Build the write that keeps an experiment in the tail until its next change. */
export const leaveInTail = (project_id: string, { experiment_id, stamp }: CatalogueMark): Write => ({
  update: markKey(project_id, experiment_id),
  change: { set: { folding: false, large: true } },
  if: { equals: { stamp } },
});
