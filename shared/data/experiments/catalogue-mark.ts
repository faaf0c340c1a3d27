import * as z from 'zod';
import { newId } from '../../core/new-id.ts';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';

/**
 * The tail of a project's catalogue: a mark for each experiment of which its segments may not tell the truth. A search
 * reads the records of those. A new experiment has a mark, and every write that changes what search knows of an
 * experiment checks that there is one, or puts it. (Only a job changes its experiment without: the mark of a training
 * stays until it has ended.) So an experiment is folded into a segment only while nobody changes it: folding gives its
 * mark another stamp before it reads the experiment, which fails the changes that had seen the former one.
 */
const mark = recordType('catalogue-mark', () =>
  z.object({
    stamp: z.string(),
    /** The experiment is being folded into a segment. A change has to give the mark another stamp. */
    folding: z.boolean(),
    /** A segment may hold a row of the experiment. */
    folded: z.boolean(),
    /** The experiment was deleted. */
    removed: z.boolean(),
    /** The experiment does not fit into a segment, so it stays in the tail. */
    large: z.boolean(),
  }),
);
export type CatalogueMark = z.infer<typeof mark.schema> & { experiment_id: string };

/** The mark of a changed experiment: its condition fails where it was folded at the same moment. */
export const catalogueMark = new WriteLabel('mark in the catalogue');

/** The partition of a project's catalogue: its manifest, segments and marks. */
export const cataloguePartition = (project_id: string): string => `CATALOGUE#${project_id}`;

/** Milliseconds since the experiment got its mark. */
export const markAge = ({ stamp }: CatalogueMark, now: number): number =>
  now - Number(stamp.slice(0, stamp.indexOf('-')));

/** The write that goes with the record of a new experiment. */
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
 * The write that goes with a change of an experiment: read before it.
 * @returns `exists`, where the write itself makes sure that the experiment is there
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
 * The write that goes with the delete of an experiment: read before it, and made again where its condition fails.
 * @returns `remains` where a segment still has a row of it, until the next fold
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

/** All marks of a project. */
export async function readMarks(
  records: TableReader<'records'>,
  project_id: string,
): Promise<CatalogueMark[]> {
  const marks: CatalogueMark[] = [];
  let after: string | undefined;
  do {
    const page = await records.query({ pk: cataloguePartition(project_id), prefix, after });
    marks.push(...page.items.map(parse));
    after = page.next;
  } while (after !== undefined);
  return marks;
}

/** The marks that these experiments lack. */
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

/** The write that begins to fold an experiment, and the mark as it is then. */
export function beginFolding(project_id: string, old: CatalogueMark): { write: Write; mark: CatalogueMark } {
  const stamp = newStamp();
  const write: Write = {
    update: markKey(project_id, old.experiment_id),
    change: { set: { stamp, folding: true } },
    if: { equals: { stamp: old.stamp } },
  };
  return { write, mark: { ...old, stamp, folding: true } };
}

/** The write that ends it: the segments tell the truth. */
export const endFolding = (project_id: string, { experiment_id, stamp }: CatalogueMark): Write => ({
  delete: markKey(project_id, experiment_id),
  if: { equals: { stamp } },
});

/** The write that leaves an experiment in the tail for good, or until it is changed. */
export const leaveInTail = (project_id: string, { experiment_id, stamp }: CatalogueMark): Write => ({
  update: markKey(project_id, experiment_id),
  change: { set: { folding: false, large: true } },
  if: { equals: { stamp } },
});
