import { cataloguePartition } from '../data/catalogue-mark.ts';
import { configPartitions } from '../data/config.ts';
import { environmentPartitions } from '../data/environment.ts';
import { firstCriterionPartition } from '../data/first-criterion.ts';
import { loggedModelPartitions } from '../data/logged-model.ts';
import {
  type Counters,
  countersKey,
  type Project,
  projectPrefix,
  removeProject,
  salvageCounters,
} from '../data/project.ts';
import { exportPartition } from '../data/project-export.ts';
import { newPurge, recordPurge } from '../data/purge.ts';
import type { TableWriter, Write } from '../data/table.ts';
import { trackingPartition } from '../data/tracking-key.ts';
import { uploadPartitions } from '../data/upload.ts';
import { variablesPartition } from '../data/variable.ts';

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

/**
 * Take a project out of every read, and record the purge of all that is in it.
 * @param also further writes of the transaction
 * @returns what it held; undefined where it is gone
 * @throws ConditionFailedError where it was changed meanwhile
 */
export async function removeWholeProject(
  context: Removing,
  project: Project,
  also: readonly Write[] = [],
): Promise<Counters | undefined> {
  const { records } = context;
  const { project_id } = project;
  const kept = await records.get(countersKey(project_id));
  if (kept === undefined) return undefined;
  const partitions = [
    ...configPartitions(project_id),
    ...environmentPartitions(project_id),
    ...uploadPartitions(project_id),
    trackingPartition(project_id),
    firstCriterionPartition(project_id),
    ...loggedModelPartitions(project_id),
    cataloguePartition(project_id),
    variablesPartition(project_id),
    exportPartition(project_id),
    countersKey(project_id).pk,
  ].map((pk) => ({ pk }));
  const target = { partitions, prefixes: [projectPrefix(project_id)] };
  await records.write(
    ...removeProject(project),
    recordPurge({ ...newPurge(context, target), project_id }),
    ...also,
  );
  return salvageCounters(kept);
}
