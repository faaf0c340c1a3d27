import * as z from 'zod';
import { Timestamp, Ulid } from '../endpoint/parameters.ts';
import { notFound } from '../endpoint/problem.ts';
import { recordType } from './record.ts';
import {
  ConditionFailed,
  type Key,
  type Page,
  type TableReader,
  type TableWriter,
  type Write,
} from './table.ts';

const project = recordType('project', () =>
  z.object({
    project_id: Ulid,
    project_name: z.string(),
    project_description: z.string(),
    project_type: z.string(),
    project_task: z.string(),
    /** Name of the user whose project it is; null once that user is deleted. */
    owner: z.string().nullable(),
    owner_id: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
export type Project = z.infer<typeof project.schema>;

const counters = recordType('counters', () =>
  z.object({
    configs: z.number().int(),
    experiments: z.number().int(),
    /** Experiments that have not ended. */
    unfinished: z.number().int(),
    objects: z.number().int(),
    bytes: z.number().int(),
  }),
);
/** What a project holds: records, and objects in the bucket with their bytes. Kept, not counted. */
export type Counters = z.infer<typeof counters.schema>;

type Records = TableReader<'records'>;

export const projectKey = (project_id: string): Key => ({ pk: 'PROJECTS', sk: project_id });
export const countersKey = (project_id: string): Key => ({ pk: `COUNTERS#${project_id}`, sk: 'COUNTERS' });
/** A user's own projects, so that they can be found when the user is deleted. */
const ownedKey = (owner_id: string, project_id: string): Key => ({ pk: `OWNED#${owner_id}`, sk: project_id });

/** Everything a project keeps in the bucket lies under this prefix. */
export const projectPrefix = (project_id: string): string => `projects/${project_id}/`;

export const parseProject = project.parse;
export const parseCounters = counters.parse;

/** A write that succeeds only while the project exists: part of every transaction that adds something to it. */
export const projectExists = (project_id: string): Write => ({
  check: projectKey(project_id),
  if: { exists: true },
});

/** A write that changes the project's counters. */
export const count = (project_id: string, add: Partial<Counters>): Write => ({
  update: countersKey(project_id),
  change: { add },
  if: { exists: true },
});

/** The project. Throws a 404 problem when there is none. */
export async function requireProject(records: Records, project_id: string): Promise<Project> {
  const item = await records.get(projectKey(project_id));
  if (item === undefined) throw notFound('project', project_id);
  return project.parse(item);
}

/** Projects, newest first. */
export async function listProjects(
  records: Records,
  page: { limit: number; after: string | undefined },
): Promise<Page<Project>> {
  const { items, next } = await records.query({ pk: 'PROJECTS', descending: true, ...page });
  return { items: items.map((item) => project.parse(item)), next };
}

/** Creates a project; `also` are writes that succeed or fail with it. */
export async function createProject(
  records: TableWriter<'records'>,
  value: Project,
  also: readonly Write[] = [],
): Promise<void> {
  await records.write(
    { put: project.item(projectKey(value.project_id), value), if: { exists: false } },
    {
      put: counters.item(countersKey(value.project_id), {
        configs: 0,
        experiments: 0,
        unfinished: 0,
        objects: 0,
        bytes: 0,
      }),
    },
    { put: { ...ownedKey(value.owner_id, value.project_id), record_type: 'owned', schema_version: 0 } },
    ...also,
  );
}

export type ProjectChange = Partial<
  Pick<Project, 'project_name' | 'project_description' | 'project_type' | 'project_task'>
>;

/** Changes a project of the given version; throws `ConditionFailed` when it was changed or deleted meanwhile. */
export async function updateProject(
  records: TableWriter<'records'>,
  { project_id, version }: Project,
  change: ProjectChange,
  now: Date,
): Promise<void> {
  await records.write({
    update: projectKey(project_id),
    change: { set: { ...change, updated_at: now.toISOString() }, add: { version: 1 } },
    if: { equals: { version } },
  });
}

/** The writes that take a project out of every read at once; what it holds is purged afterwards. */
export const removeProject = ({ project_id, owner_id, version }: Project): Write[] => [
  { delete: projectKey(project_id), if: { equals: { version } } },
  { delete: ownedKey(owner_id, project_id) },
];

/** Ids of projects that were made by a user and still are theirs. */
export async function listOwned(
  records: Records,
  owner_id: string,
  after: string | undefined,
): Promise<Page<string>> {
  const { items, next } = await records.query({ pk: ownedKey(owner_id, '').pk, after, limit: 100 });
  return { items: items.map(({ sk }) => sk), next };
}

/** Notes that a project's owner is no more. It is nobody's then; only admins may change it. */
export async function disownProject(
  records: TableWriter<'records'>,
  owner_id: string,
  project_id: string,
): Promise<void> {
  const forget: Write = { delete: ownedKey(owner_id, project_id) };
  const disown: Write = {
    update: projectKey(project_id),
    change: { set: { owner: null }, add: { version: 1 } },
    if: { equals: { owner_id } },
  };
  try {
    await records.write(disown, forget);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // The project was deleted meanwhile.
    await records.write(forget);
  }
}
