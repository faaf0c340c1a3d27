import { cataloguePartition } from '../data/experiments/catalogue-mark.ts';
import { loggedModelPartitions } from '../data/experiments/logged-model.ts';
import { deliveriesPartition } from '../data/hooks/delivery.ts';
import { hookEventsPartition, hooksPartition } from '../data/hooks/hook.ts';
import { budgetPartition, monthsPartition } from '../data/jobs/budget.ts';
import { trackingPartition } from '../data/metrics/metric-summaries.ts';
import { configPartitions } from '../data/projects/config.ts';
import { environmentPartitions } from '../data/projects/environment.ts';
import { firstCriterionPartition } from '../data/projects/inferred-criterion.ts';
import { linksPartition } from '../data/projects/link.ts';
import {
  type Counters,
  countersKey,
  type Project,
  projectPrefix,
  removeProject,
  salvageCounters,
} from '../data/projects/project.ts';
import { exportPartition } from '../data/projects/project-archives.ts';
import { newPurge, recordPurge } from '../data/projects/purge.ts';
import { projectReportPartitions } from '../data/projects/report.ts';
import { uploadPartitions } from '../data/projects/upload.ts';
import { variablesPartition } from '../data/projects/variable.ts';
import { scheduleConfigsPartition, schedulesPartition } from '../data/schedules/schedule.ts';
import { reportsPartition } from '../data/sweeps/rung.ts';
import { sweepsPartition } from '../data/sweeps/sweep.ts';
import { runsPartition } from '../data/sweeps/sweep-run.ts';
import type { TableWriter, Write } from '../data/table/table.ts';

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

/**
 * Remove a project, and record the purge of its contents.
 * @param also further writes of the transaction
 * @returns counts of the removed project; undefined if it was already deleted
 * @throws ConditionFailedError if it was changed in between
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
    linksPartition(project_id),
    ...projectReportPartitions(project_id),
    hooksPartition(project_id),
    hookEventsPartition(project_id),
    deliveriesPartition(project_id),
    exportPartition(project_id),
    budgetPartition(project_id),
    monthsPartition(project_id),
    sweepsPartition(project_id),
    runsPartition(project_id),
    reportsPartition(project_id),
    schedulesPartition(project_id),
    scheduleConfigsPartition(project_id),
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
