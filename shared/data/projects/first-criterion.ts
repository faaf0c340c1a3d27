import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { criterionOf, criterionOfMetrics, type ProjectCriterion } from '../../metrics/criteria.ts';
import { recordType } from '../table/record.ts';
import { type Item, type Key, pageOf, readPage, type TableReader, type TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { Criterion, type Project, parseProject, projectKey } from './project.ts';

/**
 * What a project is ranked by where neither it nor its task says so: what follows from the metrics of the first run that
 * reported one to judge it by. Noted by whoever stores those metrics, before they are stored, and kept when the run is
 * deleted. It has a partition of its own, so that the job of a training can write it and cannot write the project.
 */
const first = recordType('first-criterion', () =>
  z.object({
    criterion: Criterion,
    /** The run, whose further metrics may tell more. */
    experiment_id: Ulid,
    version: z.number().int(),
  }),
);

export const parseFirstCriterion = first.parse;
export const firstCriterionPartition = (project_id: string): string => `FIRST_CRITERION#${project_id}`;
const keyOf = (project_id: string): Key => ({
  pk: firstCriterionPartition(project_id),
  sk: 'FIRST_CRITERION',
});

/** Note what follows from the metrics of a run, where it is the project's first or none was noted. It may be repeated. */
export async function noteFirstCriterion(
  records: TableWriter<'records'>,
  { project_id, experiment_id }: { project_id: string; experiment_id: string },
  names: Iterable<string>,
): Promise<void> {
  const criterion = criterionOfMetrics(names);
  if (criterion === undefined) return;
  const key = keyOf(project_id);
  const item = await records.get(key);
  const present = item && first.parse(item);
  if (present !== undefined) {
    const { name, goal } = present.criterion;
    const isKnown = name === criterion.name && goal === criterion.goal;
    if (isKnown || present.experiment_id !== experiment_id) return;
  }
  const version = (present?.version ?? 0) + 1;
  // Another run was quicker, where the condition fails.
  await tryWrite(
    records.write({
      put: first.item(key, { criterion, experiment_id, version }),
      if: present === undefined ? { exists: false } : { equals: { version: present.version } },
    }),
  );
}

const notedIn = (item: Item | undefined) => item && first.parse(item).criterion;

/** One that is gone, or that this version cannot read, names nothing. */
const criterionIn = (project: Item | undefined, noted: Item | undefined): ProjectCriterion =>
  criterionOf(readPage(pageOf(project), parseProject).items[0] ?? { project_task: '' }, notedIn(noted));

/** By what a project's experiments are ranked now. */
export async function readCriterion(
  records: TableReader<'records'>,
  project_id: string,
): Promise<ProjectCriterion> {
  // Reads by key go together with whatever else is read at the moment.
  const keys = [projectKey(project_id), keyOf(project_id)];
  const [project, noted] = await Promise.all(keys.map((key) => records.get(key)));
  return criterionIn(project, noted);
}

/** The same of many projects, by their ids. */
export async function readCriteria(
  records: TableReader<'records'>,
  project_ids: readonly string[],
): Promise<Map<string, ProjectCriterion>> {
  const items = await records.batchGet([...project_ids.map(projectKey), ...project_ids.map(keyOf)]);
  return new Map(
    project_ids.map((project_id, index) => [
      project_id,
      criterionIn(items[index], items[project_ids.length + index]),
    ]),
  );
}

/** The same of projects that were read: no further read where they and their tasks say it all. */
export async function criteriaOf(
  records: TableReader<'records'>,
  projects: readonly Project[],
): Promise<Map<string, ProjectCriterion>> {
  const criteria = new Map(projects.map((one) => [one.project_id, criterionOf(one)]));
  const open = projects.filter(({ project_id }) => criteria.get(project_id)?.source === 'default');
  const noted = await records.batchGet(open.map(({ project_id }) => keyOf(project_id)));
  for (const [index, project] of open.entries())
    criteria.set(project.project_id, criterionOf(project, notedIn(noted[index])));
  return criteria;
}
