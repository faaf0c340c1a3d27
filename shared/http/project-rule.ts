import { ServiceError } from '../core/service-error.ts';
import { findMember, type ProjectRole, projectRoles } from '../data/member.ts';
import { readRecords } from '../data/needs.ts';
import { type Project, requireProject, requireProjectToRemove } from '../data/project.ts';
import type { TableReader } from '../data/table.ts';
import type { Caller, ProjectRule } from './endpoint-context.ts';
import type { Before } from './exchange.ts';

const roleOfRule: Readonly<Record<ProjectRule, ProjectRole>> = {
  viewer: 'viewer',
  developer: 'developer',
  owner: 'owner',
  remove: 'owner',
};

/**
 * The role that a caller has in a project. Admins may do all that its owner may. Everybody who may read at all may read
 * every project, so that those who are no members are viewers, too.
 */
async function roleIn(
  records: TableReader<'records'>,
  { project_id, owner_id }: Project,
  { account_type, user_id }: Pick<Caller, 'user_id' | 'account_type'>,
): Promise<ProjectRole> {
  if (account_type === 'admin' || owner_id === user_id) return 'owner';
  return (await findMember(records, project_id, user_id))?.role ?? 'viewer';
}

const refusals: Readonly<Record<Exclude<ProjectRole, 'viewer'>, string>> = {
  developer:
    'This project belongs to somebody else; only its owner, its developers and admins may change it. Its owner can make you a developer in it.',
  owner: 'This project belongs to somebody else; only its owner and admins may do this.',
};

/**
 * The project, for a caller who may do what the rule is for.
 * @throws ServiceError `not-found`, `forbidden`
 */
export async function projectFor(
  records: TableReader<'records'>,
  id: string,
  rule: ProjectRule,
  caller: Pick<Caller, 'user_id' | 'account_type'> | undefined,
): Promise<Project> {
  const project = await (rule === 'remove' ? requireProjectToRemove : requireProject)(records, id);
  const needed = roleOfRule[rule];
  if (needed === 'viewer') return project;
  const role = caller === undefined ? 'viewer' : await roleIn(records, project, caller);
  if (projectRoles.indexOf(role) < projectRoles.indexOf(needed))
    throw new ServiceError('forbidden', refusals[needed]);
  return project;
}

function projectId(path: unknown): string | undefined {
  if (typeof path !== 'object' || path === null || !('project_id' in path)) return undefined;
  return typeof path.project_id === 'string' ? path.project_id : undefined;
}

/** Reads the project that the path names, and refuses callers whose role in it is too low. */
export const requireProjectOfPath: Before = async (exchange) => {
  const { endpoint, caller, input, platform } = exchange;
  const { project: rule } = endpoint;
  if (rule === undefined) return;
  const id = projectId(input?.path);
  if (id === undefined) throw new Error(`${endpoint.name} has a project rule but no project_id in its path`);
  const read = () => projectFor(readRecords.open(platform), id, rule, caller);
  exchange.checked = { project: await read(), projectNow: read };
};
