import { ServiceError } from '../../core/service-error.ts';
import { requireReachedProject } from '../../data/accounts/token-scope.ts';
import { findMember, type Member, type ProjectRole, projectRoles } from '../../data/projects/member.ts';
import {
  type Project,
  projectKey,
  requireProject,
  requireProjectToRemove,
} from '../../data/projects/project.ts';
import { readRecords } from '../../data/table/needs.ts';
import { recentReads } from '../../data/table/recent-reads.ts';
import { readAhead, type TableReader } from '../../data/table/table.ts';
import type { Caller, ProjectRule } from '../definition/endpoint-context.ts';
import type { Middleware } from '../definition/middleware.ts';

type Asking = Pick<Caller, 'user_id' | 'account_type'>;

const roleOfRule: Readonly<Record<ProjectRule, ProjectRole>> = {
  viewer: 'viewer',
  developer: 'developer',
  owner: 'owner',
  restore: 'owner',
  remove: 'owner',
};

const refusals: Readonly<Record<Exclude<ProjectRole, 'viewer'>, string>> = {
  developer:
    'This project belongs to another user. Only its owner, its developers and admins may change it. Its owner can make you a developer of it.',
  owner: 'This project belongs to another user. Only its owner and admins may do this.',
};

/**
 * Return the project, if the rule admits the caller. Rules of viewers and developers admit by what this process has read
 * within a second; who changes the project itself is checked by what the table has now, and so is who would be refused.
 * @throws ServiceError `not-found`, `forbidden`
 */
export async function projectFor(
  records: TableReader<'records'>,
  id: string,
  rule: ProjectRule,
  caller: Asking | undefined,
): Promise<Project> {
  if (rule !== 'viewer' && rule !== 'developer') return projectNow(records, id, rule, caller);
  const recent = recentReads(records);
  try {
    return await projectNow(recent, id, rule, caller, recent.has(projectKey(id)));
  } catch (error) {
    if (!recent.hasReused()) throw error;
    return projectNow(records, id, rule, caller);
  }
}

/** @param isKnown whether reading the project needs no request */
async function projectNow(
  records: TableReader<'records'>,
  id: string,
  rule: ProjectRule,
  caller: Asking | undefined,
  isKnown = false,
): Promise<Project> {
  const needed = roleOfRule[rule];
  const find = rule === 'remove' ? requireProjectToRemove : requireProject;
  if (needed === 'viewer') return find(records, id);
  const findRole = async () => (caller === undefined ? undefined : findMember(records, id, caller.user_id));
  // Read the membership together with the project. That is one more read unit for owners, but one request less for
  // members.
  const readMember = isKnown || caller?.account_type === 'admin' ? findRole : readAhead(findRole);
  const project = await find(records, id);
  const role = caller === undefined ? 'viewer' : await roleIn(project, caller, readMember);
  if (projectRoles.indexOf(role) < projectRoles.indexOf(needed))
    throw new ServiceError('forbidden', refusals[needed]);
  return project;
}

/**
 * Return the role of a caller in a project. Admins have the owner's rights. Every account that may read at all may
 * read every project, so non-members are viewers.
 */
async function roleIn(
  { owner_id }: Project,
  { account_type, user_id }: Asking,
  readMember: () => Promise<Member | undefined>,
): Promise<ProjectRole> {
  if (account_type === 'admin' || owner_id === user_id) return 'owner';
  return (await readMember())?.role ?? 'viewer';
}

/**
 * Refuse a token whose scope leaves out the project of the path. Read the project, and refuse callers whose role in it
 * is too low.
 */
export const requireProjectOfPath: Middleware = async (exchange) => {
  const { endpoint, caller, input, platform } = exchange;
  const { project: rule } = endpoint;
  const id = projectId(input?.path);
  if (caller !== undefined && endpoint.path.includes('{project_id}')) requireReachedProject(caller, id);
  if (rule === undefined) return;
  if (id === undefined) throw new Error(`${endpoint.name} has a project rule but no project_id in its path`);
  const records = readRecords.open(platform);
  const current = async () => {
    const project = await projectNow(records, id, rule, caller);
    refuseDeleted(project, rule);
    return project;
  };
  const project = await projectFor(records, id, rule, caller);
  // It may have been restored since.
  exchange.checked = { project: isRefused(project, rule) ? await current() : project, projectNow: current };
};

/**
 * Return a project that the body of a request names, for a change as its developer.
 * @throws ServiceError `not-found`, `forbidden`
 */
export async function projectToChange(
  records: TableReader<'records'>,
  id: string,
  caller: Caller,
): Promise<Project> {
  requireReachedProject(caller, id);
  const project = await projectNow(records, id, 'developer', caller);
  refuseDeleted(project, 'developer');
  return project;
}

/** Refuse changes of a deleted project. MLflow's routes do not call this, because its clients expect other errors. */
function refuseDeleted(project: Project, rule: ProjectRule): void {
  if (!isRefused(project, rule)) return;
  throw new ServiceError(
    'forbidden',
    'This project is deleted. Restore it with POST /projects/{project_id}/restore before you change it.',
  );
}

const isRefused = ({ deleted_at }: Project, rule: ProjectRule): boolean =>
  deleted_at !== undefined && (rule === 'developer' || rule === 'owner');

function projectId(path: unknown): string | undefined {
  if (typeof path !== 'object' || path === null || !('project_id' in path)) return undefined;
  return typeof path.project_id === 'string' ? path.project_id : undefined;
}
