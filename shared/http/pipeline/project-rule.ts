import { ServiceError } from '../../core/service-error.ts';
import { findMember, type Member, type ProjectRole, projectRoles } from '../../data/projects/member.ts';
import { type Project, requireProject, requireProjectToRemove } from '../../data/projects/project.ts';
import { readRecords } from '../../data/table/needs.ts';
import { readAhead, type TableReader } from '../../data/table/table.ts';
import type { Caller, ProjectRule } from '../definition/endpoint-context.ts';
import type { Before } from '../definition/exchange.ts';

const roleOfRule: Readonly<Record<ProjectRule, ProjectRole>> = {
  viewer: 'viewer',
  developer: 'developer',
  owner: 'owner',
  remove: 'owner',
};

type Asking = Pick<Caller, 'user_id' | 'account_type'>;

/**
 * The role that a caller has in a project. Admins may do all that its owner may. Everybody who may read at all may read
 * every project, so that those who are no members are viewers, too.
 */
async function roleIn(
  { owner_id }: Project,
  { account_type, user_id }: Asking,
  readMember: () => Promise<Member | undefined>,
): Promise<ProjectRole> {
  if (account_type === 'admin' || owner_id === user_id) return 'owner';
  return (await readMember())?.role ?? 'viewer';
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
  caller: Asking | undefined,
): Promise<Project> {
  const needed = roleOfRule[rule];
  const find = rule === 'remove' ? requireProjectToRemove : requireProject;
  if (needed === 'viewer') return find(records, id);
  // The membership goes with the project: one read unit more for its owner, one request less for its members.
  const readMember =
    caller === undefined || caller.account_type === 'admin'
      ? async () => undefined
      : readAhead(() => findMember(records, id, caller.user_id));
  const project = await find(records, id);
  const role = caller === undefined ? 'viewer' : await roleIn(project, caller, readMember);
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
