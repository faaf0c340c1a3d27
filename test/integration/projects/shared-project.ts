import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as deleteMember } from '../../../functions/projects/members/delete-member.endpoint.ts';
import { endpoint as listMembers } from '../../../functions/projects/members/list-members.endpoint.ts';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as transferProject } from '../../../functions/projects/members/transfer-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { type Member, maxMembers, putMember as storeMember } from '../../../shared/data/projects/member.ts';
import { countersKey, requireProject } from '../../../shared/data/projects/project.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

/** A new project of olga, a developer; bob is another developer, and root an admin. */
export async function sharedProject() {
  const service = await testService({ BATCH_ENDPOINT: 'http://127.0.0.1:9' });
  const [olga, bob, root] = await Promise.all([
    service.user('developer', 'olga'),
    service.user('developer', 'bob'),
    service.user('admin', 'root'),
  ]);
  const project_id = await newProject(service, olga);
  return { service, olga, bob, root, project_id, ...requestsOf(service, { project_id, olga, root }) };
}

/** Requests about the members of a project, by its owner unless another user is given. */
function requestsOf(
  service: TestService,
  { project_id, olga, root }: { project_id: string; olga: TestUser; root: TestUser },
) {
  const path = { project_id };
  return {
    share: (username: string, role: string, as = olga) =>
      service.call(putMember, { path: { project_id, username }, query: { role }, as }),
    unshare: (username: string, as = olga) =>
      service.call(deleteMember, { path: { project_id, username }, as }),
    handOver: (username: string, as = olga) =>
      service.call(transferProject, { path, query: { username }, as }),
    remove: (as = olga, headers = {}) => service.call(deleteProject, { path, headers, as }),
    removeUser: (username: string) => service.call(deleteUser, { query: { username }, as: root }),
    /** Stores a configuration, as developers of the project may. */
    change: (as: TestUser) =>
      service.call(putConfig, {
        path: { project_id, config_id: 'a.yaml' },
        body: `a: "${Math.random()}"`,
        as,
      }),
    /** The members as `<name> <role>`. */
    async members(): Promise<string[]> {
      const { json } = await service.call(listMembers, { path, as: root });
      return json.map(({ username, role }: { username: string; role: string }) => `${username} ${role}`);
    },
    /** Ids of the projects that a user owns or is a member of. */
    async projectsOf(as: TestUser, query = ''): Promise<string[]> {
      const { json } = await service.call(listProjects, { query: `member=true${query}`, as });
      return json.map((one: { project_id: string }) => one.project_id);
    },
    memberCount: async () => (await service.records.get(countersKey(project_id)))?.['members'] ?? 0,
    /** The row of the project in the list of a user's projects. */
    listRow: (user_id: string) => service.records.get({ pk: `OWNED#${user_id}`, sk: project_id }),
    /** Stores a member as a request does that has read the account before. */
    async addMember(member: Pick<Member, 'user_id' | 'username'>): Promise<void> {
      const project = await requireProject(service.records, project_id);
      const stored = {
        project_id,
        ...member,
        role: 'viewer' as const,
        added_at: project.created_at,
        version: 1,
      };
      await storeMember(service.records, project, stored, undefined);
    },
    purge: () => taskHandler(purge, service.environment)(undefined),
  };
}

/** As many members as a project may have. */
export const mostMembers = (): Pick<Member, 'user_id' | 'username'>[] =>
  Array.from({ length: maxMembers }, (_, index) => ({
    user_id: `01h0000000000000000000${String(index).padStart(4, '0')}`,
    username: `user${index}`,
  }));
