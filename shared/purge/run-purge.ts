import type { ObjectWriter } from '../aws/objects.ts';
import { uploadSeconds } from '../aws/upload-seconds.ts';
import type { Deadline } from '../core/deadline.ts';
import { keptObjects } from '../data/experiments/artifact.ts';
import { claimBuild, findPack, packObject, packsPrefix, releaseBuild } from '../data/projects/environment.ts';
import { finishPurge, type Purge, type PurgeTarget, postponePurge } from '../data/projects/purge.ts';
import { pagesOf } from '../data/table/pages-of.ts';
import type { TableName, TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';

/**
 * Remove the leftovers of a delete: the items of the target's partitions and the objects under its prefixes, page
 * by page, until a whole pass finds nothing. Return true once all are removed; false if time ran out.
 *
 * The purge itself is deleted last, so a crash only makes it start again. A purge with prefixes is kept until all
 * upload URLs from before the delete have expired, and then runs once more. Running it twice at once is harmless:
 * removing a missing item is no error.
 *
 * @param objects undefined for purges without prefixes
 * @param before preparation, such as ending jobs that still write; false postpones the purge
 */
export async function runPurge(
  records: Records,
  objects: PurgedObjects | undefined,
  purge: Purge,
  hasTime: Deadline,
  before?: (purge: Purge, hasTime: Deadline) => Promise<boolean>,
  now: Date = new Date(),
): Promise<boolean> {
  if (before !== undefined && !(await before(purge, hasTime))) return false;
  for (;;) {
    const pass = await removeAll(records, objects, purge, hasTime, now);
    if (pass === 'stopped') return false;
    if (pass === 'clean') break;
  }
  const until = comesBackUntil(purge, now);
  if (until === undefined) await finishPurge(records, purge.purge_id);
  else if (purge.again_at === null) await postponePurge(records, purge.purge_id, until.toISOString());
  return true;
}

type Records = TableWriter<'records'>;
/** Operations of a purge on the bucket. */
export type PurgedObjects = Pick<ObjectWriter, 'list' | 'delete' | 'abortParts'>;

async function removeAll(
  records: Records,
  objects: PurgedObjects | undefined,
  { purge_id, target: { partitions, prefixes, uploads = [], leftovers, packs_of } }: Purge,
  hasTime: Deadline,
  now: Date,
): Promise<Pass> {
  let outcome: Pass = 'clean';
  if (packs_of !== undefined && objects !== undefined) {
    outcome = await purgePacks({ records, objects, holder: purge_id, now }, packs_of, hasTime);
    if (outcome === 'stopped') return outcome;
  }
  for (const partition of partitions) {
    const pass = await removeItems(records, partition, hasTime);
    if (pass === 'stopped') return pass;
    if (pass === 'removed') outcome = pass;
  }
  for (const { object, upload_id } of uploads) await objects?.abortParts(object, upload_id);
  for (const prefix of [...prefixes, ...(leftovers === undefined ? [] : [leftovers.prefix])]) {
    if (objects === undefined) throw new Error('a purge of objects needs the bucket');
    const isLeft = prefix === leftovers?.prefix;
    const kept = isLeft ? await keptObjects(records, leftovers.job_id) : undefined;
    const pass = await removeObjects(objects, prefix, hasTime, kept);
    if (pass === 'stopped') return pass;
    if (pass === 'removed') outcome = pass;
  }
  return outcome;
}

/** Outcome of one pass: `stopped` if time ran out, `clean` if it found nothing to remove. */
export type Pass = 'stopped' | 'removed' | 'clean';

/**
 * Remove packed environments of a project that a builder uploaded but did not record, because it crashed in
 * between. Return `stopped` if time ran out, or a build may still be running.
 */
async function purgePacks(purger: Purger, project_id: string, hasTime: Deadline): Promise<Pass> {
  const prefix = packsPrefix(project_id);
  const passes = new Set<Pass>();
  for await (const page of pagesOf((after) => purger.objects.list(prefix, after))) {
    for (const { key } of page.objects) {
      if (!hasTime()) return 'stopped';
      passes.add(await removePack(purger, project_id, key.slice(prefix.length)));
    }
  }
  if (passes.has('stopped')) return 'stopped';
  return passes.has('removed') ? 'removed' : 'clean';
}

interface Purger {
  records: TableWriter<'records'>;
  objects: Pick<ObjectWriter, 'list' | 'delete'>;
  /** Name that claims builds during their purge. */
  holder: string;
  now: Date;
}

/** Remove a packed environment that no record names, unless a builder is building it. */
async function removePack({ records, objects, holder, now }: Purger, project_id: string, key: string) {
  if ((await findPack(records, project_id, key)) !== undefined) return 'clean';
  const until = new Date(now.getTime() + claimSeconds * 1000);
  if (!(await tryWrite(claimBuild(records, project_id, key, holder, now, until)))) return 'stopped';
  const isNamed = (await findPack(records, project_id, key)) !== undefined;
  if (!isNamed) await objects.delete([packObject(project_id, key)]);
  await tryWrite(releaseBuild(records, project_id, key, holder));
  return isNamed ? 'clean' : 'removed';
}

/** Seconds for which a claim prevents other builders from building the environment. */
const claimSeconds = 60;

/** Remove the items of a partition, or those under `prefix`. */
export async function removeItems(
  table: TableWriter<TableName>,
  { pk, prefix }: Partition,
  hasTime: Deadline,
): Promise<Pass> {
  let outcome: Pass = 'clean';
  let after: string | undefined;
  do {
    if (!hasTime()) return 'stopped';
    const page = await table.query({
      pk,
      ...(prefix !== undefined && { prefix }),
      after,
      limit: itemsAtOnce,
    });
    if (page.items.length > 0) {
      await table.write(...page.items.map(({ sk }) => ({ delete: { pk, sk } })));
      outcome = 'removed';
    }
    after = page.next;
  } while (after !== undefined);
  return outcome;
}

type Partition = PurgeTarget['partitions'][number];

/**
 * Items of one page. With the table's page limit of 1 MB, a batch also stays below the 4 MB limit of a
 * transaction.
 */
const itemsAtOnce = 25;

/** Remove the objects under a prefix, except the `kept` ones. */
async function removeObjects(
  objects: PurgedObjects,
  prefix: string,
  hasTime: Deadline,
  kept: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Promise<Pass> {
  let outcome: Pass = 'clean';
  let after: string | undefined;
  do {
    if (!hasTime()) return 'stopped';
    const page = await objects.list(prefix, after);
    const doomed = page.objects.map(({ key }) => key).filter((key) => !kept.has(key));
    if (doomed.length > 0) {
      await objects.delete(doomed);
      outcome = 'removed';
    }
    after = page.next;
  } while (after !== undefined);
  return outcome;
}

/**
 * Return the time until which an object can come back: through an upload URL from before the delete, or from a
 * container that lost its job without noticing. Undefined if none can.
 */
function comesBackUntil({ created_at, target }: Purge, now: Date): Date | undefined {
  const until = new Date(Date.parse(created_at) + uploadSeconds * 1000);
  const { prefixes, leftovers, packs_of } = target;
  const hasObjects = prefixes.length > 0 || leftovers !== undefined || packs_of !== undefined;
  return hasObjects && until.getTime() > now.getTime() ? until : undefined;
}
