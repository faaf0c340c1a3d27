import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import { ownedList } from '../lists/owned-list.ts';
import { spreadList } from '../lists/spread-list.ts';
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

const project = recordType('project', () =>
  z.object({
    project_id: Ulid,
    project_name: z.string(),
    /** Its name in the archive that it was imported from, where that was taken; absent once it is renamed. */
    archived_name: z.string().optional(),
    project_description: z.string(),
    project_type: z.string(),
    project_task: z.string(),
    /** Name of the user whose project it is; null once that user is deleted. */
    owner: z.string().nullable(),
    owner_id: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
    /** By which it wants its experiments judged; absent where that is for its task to say. */
    criterion: Criterion.optional(),
    /** What MLflow's clients note of it; absent where they noted nothing. */
    tags: z.record(z.string(), z.string()).optional(),
    /** When an MLflow client marked it as deleted, which can be undone; absent otherwise. */
    deleted_at: Timestamp.optional(),
    version: z.number().int(),
  }),
);

export type Project = z.infer<typeof project.schema>;

/** A measure by which experiments are judged. */
export const Criterion = z.object({ name: z.string(), goal: z.enum(['maximize', 'minimize']) });
export type Criterion = z.infer<typeof Criterion>;

const counters = recordType('counters', () =>
  z.object({
    configs: z.number().int(),
    experiments: z.number().int(),
    /** Experiments that have not ended. */
    unfinished: z.number().int(),
    objects: z.number().int(),
    bytes: z.number().int(),
    /** Those with whom it is shared. */
    members: z.number().int().default(0),
  }),
);
/** What a project holds: records, and objects in the bucket with their bytes. Kept, not counted. */
export type Counters = z.infer<typeof counters.schema>;

const projects = spreadList('PROJECTS');
/** Key patterns of all projects, for the policy of a role. */
export const projectPatterns = projects.patterns;
/** Return the id of a new project, made of a new ULID. */
export const newProjectId = projects.newId;
export const projectKey = (project_id: string): Key => projects.keyOf(project_id);
export const countersKey = (project_id: string): Key => ({ pk: `COUNTERS#${project_id}`, sk: 'COUNTERS' });
/** Projects of each user: those that they own, and those that are shared with them. */
export const ownedProjects = ownedList('OWNED', projectKey);

/** Everything a project keeps in the bucket lies under this prefix. */
export const projectPrefix = (project_id: string): string => `projects/${project_id}/`;

export const parseProject = project.parse;
export const parseCounters = counters.parse;

/** The counters of a project that is being deleted, as far as they can be read. */
export const salvageCounters = (item: Item): Counters => counters.salvage(item, noCounters);

const noCounters: Counters = { configs: 0, experiments: 0, unfinished: 0, objects: 0, bytes: 0, members: 0 };

/** The project for which a user claimed a name; it may have another name by now, or be gone. */
export async function findClaimedName(
  records: Records,
  user_id: string,
  name: string,
): Promise<string | undefined> {
  const item = await records.get(claimKey(user_id, name));
  return item && claim.parse(item).project_id;
}

type Records = TableReader<'records'>;

const claimKey = (user_id: string, name: string): Key => ({
  pk: `PROJECT_NAMES#${user_id}`,
  sk: createHash('sha256').update(name).digest('hex'),
});

/** The claim of a name among the projects that a user makes by MLflow's API, where a name says which one is meant. */
const claim = recordType('project-name', () => z.object({ project_id: Ulid }));

/** The write that claims a name, in place of the claim that was found. */
export const claimName = (
  user_id: string,
  name: string,
  project_id: string,
  previous: string | undefined,
): Write => ({
  put: claim.item(claimKey(user_id, name), { project_id }),
  if: previous === undefined ? { exists: false } : { equals: { project_id: previous } },
});

/** A write that succeeds only while the project exists: part of every transaction that adds something to it. */
export const projectExists = (project_id: string): Write => ({
  check: projectKey(project_id),
  if: { exists: true },
});

/**
 * A write that changes the project's counters. With `maxBytes` it succeeds only where the project holds no more bytes
 * afterwards; a write that adds none always does.
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

/** The project. @throws ServiceError `not-found` when there is none */
export async function requireProject(records: Records, project_id: string): Promise<Project> {
  const item = await records.get(projectKey(project_id));
  if (item === undefined) throw notFound('project', project_id);
  return project.parse(item);
}

/**
 * The project, for its removal: also one that this version cannot read, which is nobody's unless it names its owner.
 *
 * @throws ServiceError `not-found` when there is none
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

/** Those of these projects that there are, in the order of their ids; at most 100. */
export async function findProjects(records: Records, ids: readonly string[]): Promise<Page<Project>> {
  if (ids.length === 0) return { items: [], next: undefined };
  const items = await records.batchGet(ids.map(projectKey));
  const found = items.filter((item) => item !== undefined);
  return readPage({ items: found, next: undefined }, project.parse);
}

/** Projects, newest first. */
export async function listProjects(
  records: Records,
  page: { limit: number; after: string | undefined },
): Promise<Page<Project>> {
  return readPage(await projects.newest(records, page), project.parse);
}

/** The writes that create a project. */
export const newProjectWrites = (value: Project): Write[] => [
  { put: project.item(projectKey(value.project_id), value), if: { exists: false } },
  { put: counters.item(countersKey(value.project_id), noCounters) },
  ownedProjects.add(value.owner_id, value.project_id),
];

/** Creates a project; `also` are writes that succeed or fail with it. */
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
  /** Null leaves it to the task. */
  criterion?: Criterion | null;
  tags?: Readonly<Record<string, string>>;
  /** Null takes the mark away. */
  deleted_at?: string | null;
};

/** Changes a project of the given version; throws `ConditionFailedError` when it was changed or deleted meanwhile. */
export async function updateProject(
  records: TableWriter<'records'>,
  { project_id, version }: Project,
  { criterion, deleted_at, ...change }: ProjectChange,
  now: Date,
): Promise<void> {
  const archived_name = change.project_name === undefined ? undefined : null;
  const removed = Object.entries({ criterion, deleted_at, archived_name }).flatMap(([name, value]) =>
    value === null ? [name] : [],
  );
  await records.write({
    update: projectKey(project_id),
    change: {
      set: {
        ...change,
        ...(criterion && { criterion }),
        ...(deleted_at && { deleted_at }),
        updated_at: now.toISOString(),
      },
      add: { version: 1 },
      ...(removed.length > 0 && { remove: removed }),
    },
    if: { equals: { version } },
  });
}

/** The writes that take a project out of every read at once; what it holds is purged afterwards. */
export const removeProject = ({ project_id, owner_id, version }: Project): Write[] => [
  { delete: projectKey(project_id), if: ofVersion(version) },
  ownedProjects.remove(owner_id, project_id),
];

/** The project would hold more bytes than the deployment lets it. */
export class ProjectBytesError extends Error {
  override readonly name = 'ProjectBytesError';

  /**
   * @param used bytes that the project holds
   * @param more bytes that were to be added
   */
  constructor(used: number, more: number, maxBytes: number) {
    super(
      `The project holds ${used} bytes and may hold ${maxBytes}; ${more} more do not fit. Delete experiments that are no longer needed.`,
    );
  }
}

/**
 * Check that `more` bytes fit into a project. The counter of the transaction that adds them decides; this names the
 * limit, and spares the upload.
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
