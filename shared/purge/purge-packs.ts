import type { ObjectWriter } from '../aws/objects.ts';
import type { Deadline } from '../core/deadline.ts';
import { claimBuild, findPack, packObject, packsPrefix, releaseBuild } from '../data/projects/environment.ts';
import type { TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import type { Pass } from './pass.ts';

interface Purger {
  records: TableWriter<'records'>;
  objects: Pick<ObjectWriter, 'list' | 'delete'>;
  /** Name under which builds are claimed during their purge. */
  holder: string;
  now: Date;
}

/** Seconds for which no other builder begins to build the environment. */
const claimSeconds = 60;

/** Remove a packed environment that no record names, unless it is being built. */
async function removePack({ records, objects, holder, now }: Purger, project_id: string, key: string) {
  if ((await findPack(records, project_id, key)) !== undefined) return 'clean';
  const until = new Date(now.getTime() + claimSeconds * 1000);
  if (!(await tryWrite(claimBuild(records, project_id, key, holder, now, until)))) return 'stopped';
  const isNamed = (await findPack(records, project_id, key)) !== undefined;
  if (!isNamed) await objects.delete([packObject(project_id, key)]);
  await tryWrite(releaseBuild(records, project_id, key, holder));
  return isNamed ? 'clean' : 'removed';
}

/**
 * Removes the packed environments of a project that builders have uploaded and not recorded, because they died in
 * between. `stopped` when time ran out, or one may be underway still.
 */
export async function purgePacks(purger: Purger, project_id: string, hasTime: Deadline): Promise<Pass> {
  const prefix = packsPrefix(project_id);
  const passes = new Set<Pass>();
  let after: string | undefined;
  do {
    const page = await purger.objects.list(prefix, after);
    for (const { key } of page.objects) {
      if (!hasTime()) return 'stopped';
      passes.add(await removePack(purger, project_id, key.slice(prefix.length)));
    }
    after = page.next;
  } while (after !== undefined);
  if (passes.has('stopped')) return 'stopped';
  return passes.has('removed') ? 'removed' : 'clean';
}
