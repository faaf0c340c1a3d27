import type { ObjectWriter } from '../aws/objects.ts';
import { type ArtifactOwner, artifactObject } from '../data/artifact.ts';
import { holdsLease } from '../data/lease.ts';
import { ConditionFailed, type TableWriter } from '../data/table.ts';
import { LeaseLost } from './lease-lost.ts';
import { persist } from './retry.ts';

/** Seconds for which a store or table that is away is tried again. */
const patienceSeconds = 600;

/**
 * Removes the objects of a job's files of one kind but those that are `named`. The lease is proved between looking and
 * removing: what was there before that is none of a later holder's, however long this process sleeps in between.
 * @throws LeaseLost
 */
export async function sweepLeftovers(
  owner: ArtifactOwner & { records: TableWriter<'records'>; objects: Pick<ObjectWriter, 'list' | 'delete'> },
  named: ReadonlySet<string>,
): Promise<void> {
  const { records, objects, experiment, kind, lease } = owner;
  const prefix = artifactObject(experiment.project_id, experiment.experiment_id, '', kind);
  let after: string | undefined;
  do {
    const from = after;
    const page = await persist(patienceSeconds, () => objects.list(prefix, from));
    const doomed = page.objects.map(({ key }) => key).filter((key) => !named.has(key));
    if (doomed.length > 0) {
      const proof = holdsLease(experiment.experiment_id, 0, lease);
      await persist(patienceSeconds, () => records.write(proof)).catch((cause: unknown) => {
        throw cause instanceof ConditionFailed ? new LeaseLost({ cause }) : cause;
      });
      await persist(patienceSeconds, () => objects.delete(doomed));
    }
    after = page.next;
  } while (after !== undefined);
}
