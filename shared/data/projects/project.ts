import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import { RunRule } from '../../run-rules/run-rule.ts';
import { ownedList } from '../lists/owned-list.ts';
import { spreadKey, spreadList } from '../lists/spread-list.ts';
import { ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import {
  type Item,
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { TableView } from './table-view.ts';

const project = recordType('project', () =>
  z.object({
    project_id: Ulid,
    project_name: z.string(),
    /** Its name in the imported archive, if that name was taken. Absent once it is renamed. */
    archived_name: z.string().optional(),
    project_description: z.string(),
    project_type: z.string(),
    project_task: z.string(),
    /** Name of its owner. Null once that user is deleted. */
    owner: z.string().nullable(),
    owner_id: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
    /** Its own criterion. Absent if its task decides. */
    criterion: Criterion.optional(),
    /** Rules under which its runs begin. Absent if it has none. */
    rules: z.array(RunRule).optional(),
    /** Saved views of its experiments. Absent if it has none. */
    views: z.array(TableView).optional(),
    /** Experiment that the others are compared with. It may be deleted since. Absent if none is chosen. */
    baseline: Ulid.optional(),
    /** Tags that MLflow's clients set. Absent if they set none. */
    tags: z.record(z.string(), z.string()).optional(),
    /** Time at which an MLflow client marked it as deleted. The mark can be undone. Absent if it is not marked. */
    deleted_at: Timestamp.optional(),
    version: z.number().int(),
  }),
);

export type Project = z.infer<typeof project.schema>;

/** Metric and direction that rank experiments. */
export const Criterion = z.object({ name: z.string(), goal: z.enum(['maximize', 'minimize']) });
export type Criterion = z.infer<typeof Criterion>;

const counters = recordType('counters', () =>
  z.object({
    configs: z.number().int(),
    experiments: z.number().int(),
    /** Experiments that have not ended. */
    unfinished: z.number().int(),
    /** Jobs that have ended. It only rises. */
    ended: z.number().int().default(0),
    /** Experiments recorded by clients or imports, and changes of their status and times. It only rises. */
    logged_changes: z.number().int().default(0),
    objects: z.number().int(),
    bytes: z.number().int(),
    /** Number of users that it is shared with. */
    members: z.number().int().default(0),
    schedules: z.number().int().default(0),
    reports: z.number().int().default(0),
  }),
);
/**
 * Counters of a project's records, and of its bucket objects and their bytes. Writes update them; nothing
 * recounts.
 */
export type Counters = z.infer<typeof counters.schema>;

const projects = spreadList('PROJECTS');
/** Key patterns of all projects, for the policy of a role. */
export const projectPatterns = projects.patterns;
/** Return the id of a new project, derived from a new ULID. */
export const newProjectId = projects.newId;
export const projectKey = (project_id: string): Key => projects.keyOf(project_id);
export const countersKey = (project_id: string): Key => ({ pk: `COUNTERS#${project_id}`, sk: 'COUNTERS' });
/** Projects of each user: owned and shared ones. */
export const ownedProjects = ownedList('OWNED', projectKey);

/** Return the bucket prefix of all objects of a project. */
export const projectPrefix = (project_id: string): string => `projects/${project_id}/`;

export const parseProject = project.parse;
export const parseCounters = counters.parse;

/** Return the readable part of the counters of a project that is being deleted. */
export const salvageCounters = (item: Item): Counters => counters.salvage(item, noCounters);

const noCounters: Counters = {
  ...{ configs: 0, experiments: 0, unfinished: 0, ended: 0, logged_changes: 0 },
  ...{ objects: 0, bytes: 0, members: 0, schedules: 0, reports: 0 },
};

/**
 * Return the id of the project that a user claimed a name for. The project may have another name now, or be gone.
 */
export const findClaimedName = async (
  records: Records,
  user_id: string,
  name: string,
): Promise<string | undefined> => (await claim.find(records, claimKey(user_id, name)))?.project_id;

type Records = TableReader<'records'>;

/** Key patterns of the records that a new project writes, for the policy of a role. */
export const newProjectPatterns = (): readonly string[] => [
  ...projectPatterns,
  spreadKey.pk,
  countersKey('*').pk,
  ownedProjects.pattern,
  claimKey('*', '').pk,
];

const claimKey = (user_id: string, name: string): Key => ({
  pk: `PROJECT_NAMES#${user_id}`,
  sk: createHash('sha256').update(name).digest('hex'),
});

/** Claim of a project name by a user. MLflow's API identifies projects by name. */
const claim = recordType('project-name', () => z.object({ project_id: Ulid }));

/** Build the write that claims a name. It replaces the claim that was found. */
export const claimName = (
  user_id: string,
  name: string,
  project_id: string,
  previous: string | undefined,
): Write => ({
  put: claim.item(claimKey(user_id, name), { project_id }),
  if: previous === undefined ? { exists: false } : { equals: { project_id: previous } },
});

/**
 * Build the write that succeeds only while the project exists. Every transaction that adds to a project includes
 * it.
 */
export const projectExists = (project_id: string): Write => ({
  check: projectKey(project_id),
  if: { exists: true },
});

/**
 * Build the write that changes the project's counters. With `maxBytes` it fails if the project would exceed that
 * size. A write that adds no bytes ignores the limit.
 */
export const count = (project_id: string, add: Partial<Counters>, maxBytes?: number): Write => {
  const { bytes = 0 } = add;
  const isBounded = maxBytes !== undefined && bytes > 0;
  return {
    update: countersKey(project_id),
    change: { add },
    if: { exists: true, ...(isBounded && { atMost: { bytes: maxBytes - bytes } }) },
  };
};

/** Build the write that counts one more or less of what a project has at most so many. */
export const countUpTo = (
  most: number,
  project_id: string,
  counter: 'members' | 'schedules' | 'reports',
  change: 1 | -1,
): Write => ({
  update: countersKey(project_id),
  change: { add: { [counter]: change } },
  if: {
    exists: true,
    ...(change > 0 && { any: [{ absent: [counter] }, { atMost: { [counter]: most - 1 } }] }),
  },
});

/** Return the counters of a project. @throws ServiceError `not-found` if the project is being removed */
export async function readCounters(records: Records, project_id: string): Promise<Counters> {
  const item = await records.get(countersKey(project_id));
  if (item === undefined) throw notFound('project', project_id);
  return counters.parse(item);
}

/** Return the project. @throws ServiceError `not-found` if it does not exist */
export async function requireProject(records: Records, project_id: string): Promise<Project> {
  const item = await records.get(projectKey(project_id));
  if (item === undefined) throw notFound('project', project_id);
  return project.parse(item);
}

/**
 * Return the project for its removal, even if it is unreadable. An unreadable project has no owner unless its
 * record names one.
 *
 * @throws ServiceError `not-found` if it does not exist
 */
export async function requireProjectToRemove(records: Records, project_id: string): Promise<Project> {
  const item = await records.get(projectKey(project_id));
  if (item === undefined) throw notFound('project', project_id);
  const unreadable = '';
  return project.salvage(item, {
    project_id,
    project_name: unreadable,
    project_description: unreadable,
    project_type: unreadable,
    project_task: unreadable,
    owner: null,
    owner_id: unreadable,
    created_at: unreadable,
    updated_at: unreadable,
    version: unreadableVersion,
  });
}

/** Return the existing projects of these ids, in the order of the ids. At most 100. */
export async function findProjects(records: Records, ids: readonly string[]): Promise<Page<Project>> {
  if (ids.length === 0) return { items: [], next: undefined };
  const items = await records.batchGet(ids.map(projectKey));
  const found = items.filter((item) => item !== undefined);
  return readPage({ items: found, next: undefined }, project.parse);
}

/** Return a page of projects, newest first. */
export async function listProjects(
  records: Records,
  page: { limit: number; after: string | undefined },
): Promise<Page<Project>> {
  return readPage(await projects.newest(records, page), project.parse);
}

/** Build the writes that create a project. */
export const newProjectWrites = (value: Project): Write[] => [
  { put: project.item(projectKey(value.project_id), value), if: { exists: false } },
  { put: counters.item(countersKey(value.project_id), noCounters) },
  ownedProjects.add(value.owner_id, value.project_id),
];

/** Create a project. `also` are further writes of the same transaction. */
export async function createProject(
  records: TableWriter<'records'>,
  value: Project,
  also: readonly Write[] = [],
): Promise<void> {
  await records.write(...newProjectWrites(value), ...also);
}

export type ProjectChange = Partial<
  Pick<Project, 'project_name' | 'project_description' | 'project_type' | 'project_task'>
> & {
  /** Null removes it, so the task decides. */
  criterion?: Criterion | null;
  tags?: Readonly<Record<string, string>>;
  rules?: readonly RunRule[];
  views?: readonly TableView[];
  /** Null removes it. */
  baseline?: string | null;
  /** Null removes the mark. */
  deleted_at?: string | null;
};

/** Change a project of the given version. @throws ConditionFailedError if it was changed or deleted since */
export async function updateProject(
  records: TableWriter<'records'>,
  { project_id, version }: Project,
  { criterion, deleted_at, baseline, ...change }: ProjectChange,
  now: Date,
): Promise<void> {
  const archived_name = change.project_name === undefined ? undefined : null;
  const removed = Object.entries({ criterion, deleted_at, baseline, archived_name }).flatMap(
    ([name, value]) => (value === null ? [name] : []),
  );
  await records.write({
    update: projectKey(project_id),
    change: {
      set: {
        ...change,
        ...(criterion && { criterion }),
        ...(deleted_at && { deleted_at }),
        ...(baseline && { baseline }),
        updated_at: now.toISOString(),
      },
      add: { version: 1 },
      ...(removed.length > 0 && { remove: removed }),
    },
    if: { equals: { version } },
  });
}

/** Build the writes that remove a project from all reads at once. A purge removes its contents afterwards. */
export const removeProject = ({ project_id, owner_id, version }: Project): Write[] => [
  { delete: projectKey(project_id), if: ofVersion(version) },
  ownedProjects.remove(owner_id, project_id),
];

/** The project would exceed the maximum bytes of the deployment. */
export class ProjectBytesError extends Error {
  override readonly name = 'ProjectBytesError';

  /**
   * @param used bytes that the project holds
   * @param more bytes that the request would add
   */
  constructor(used: number, more: number, maxBytes: number) {
    super(
      `The project has ${used} of at most ${maxBytes} bytes, so ${more} more do not fit. Delete experiments that are no longer needed.`,
    );
  }
}

/**
 * Check that `more` bytes fit into a project. This check avoids a useless upload and names the limit in the error.
 * The counter in the transaction that adds the bytes decides.
 * @throws ProjectBytesError
 */
export async function requireProjectBytes(
  records: TableReader<'records'>,
  project_id: string,
  more: number,
  maxBytes: number,
): Promise<void> {
  const item = await records.get(countersKey(project_id));
  const used = item === undefined ? 0 : parseCounters(item).bytes;
  if (more > 0 && used + more > maxBytes) throw new ProjectBytesError(used, more, maxBytes);
}
