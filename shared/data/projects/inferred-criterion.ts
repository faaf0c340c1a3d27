import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { criterionOf, criterionOfMetrics, type ProjectCriterion } from '../../metrics/criteria.ts';
import { withoutAudit } from '../table/audited-writer.ts';
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
import { tryWrite } from '../table/write-label.ts';
import { Criterion, type Project, parseProject, projectKey } from './project.ts';

/**
 * Criterion of a project if neither the project nor its task sets one. It follows from the metrics of the first
 * run with a suitable metric. The process that stores those metrics writes it before them. It stays after the
 * delete of the run. It has a separate partition, so a training job can write it but cannot write the project.
 */
const first = recordType('first-criterion', () =>
  z.object({
    criterion: Criterion,
    /** First run. Its later metrics may change the criterion. */
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

/**
 * Record the criterion from the metrics of a run, if it is the project's first run or none is recorded yet. Calls
 * are idempotent.
 * @param proof check that the caller may still record the run: a superseded container or a late request of a deleted
 * project must leave nothing
 */
export async function noteFirstCriterion(
  records: TableWriter<'records'>,
  { project_id, experiment_id }: { project_id: string; experiment_id: string },
  names: Iterable<string>,
  ...proof: readonly Write[]
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
  // If a condition fails, another run was faster, or the write of the metrics will fail, too.
  await tryWrite(
    withoutAudit(records).write(
      {
        put: first.item(key, { criterion, experiment_id, version }),
        if: present === undefined ? { exists: false } : { equals: { version: present.version } },
      },
      ...proof,
    ),
  );
}

const notedIn = (item: Item | undefined) => item && first.parse(item).criterion;

/** Derive a project's criterion. A project that is gone or unreadable sets none. */
const criterionIn = (project: Item | undefined, noted: Item | undefined): ProjectCriterion =>
  criterionOf(readPage(pageOf(project), parseProject).items[0] ?? { project_task: '' }, notedIn(noted));

/** Read the current criterion of a project. */
export async function readCriterion(
  records: TableReader<'records'>,
  project_id: string,
): Promise<ProjectCriterion> {
  // Reads by key share a request with other reads of the same moment.
  const keys = [projectKey(project_id), keyOf(project_id)];
  const [project, noted] = await Promise.all(keys.map((key) => records.get(key)));
  return criterionIn(project, noted);
}

/** Read the current criteria of many projects, by their ids. */
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

/** Return the criteria of loaded projects. Read more only for projects whose record and task set none. */
export async function criteriaOf(
  records: TableReader<'records'>,
  projects: readonly Project[],
): Promise<Map<string, ProjectCriterion>> {
  const criteria = new Map(projects.map((project) => [project.project_id, criterionOf(project)]));
  const open = projects.filter(({ project_id }) => criteria.get(project_id)?.source === 'default');
  const noted = await records.batchGet(open.map(({ project_id }) => keyOf(project_id)));
  for (const [index, project] of open.entries())
    criteria.set(project.project_id, criterionOf(project, notedIn(noted[index])));
  return criteria;
}
