import { findMember } from '../../../../shared/data/projects/member.ts';
import { requireProject } from '../../../../shared/data/projects/project.ts';
import { readVariables } from '../../../../shared/data/projects/variable.ts';
import { newDeveloper } from '../world/service.ts';
import { projectOf } from './recorded.ts';
import { asking, type Story, type StoryGround, told, unless } from './request-story.ts';

/** A project that is shared with a second developer, unless `role` is null. */
async function shared(ground: StoryGround, role: 'viewer' | 'developer' | null) {
  const project_id = await projectOf(ground);
  const { user } = await newDeveloper(ground.service);
  const path = { project_id, username: user.username };
  const { token } = ground;
  if (role !== null) await told(ground, asking('putMember', { path, query: { role }, token }));
  return { project_id, user, path };
}

const value = 'a secret of the story';

export const projectStories: readonly Story[] = [
  {
    name: 'a secret is stored',
    async prepare(ground) {
      const { service, token } = ground;
      const project_id = await projectOf(ground);
      const path = { project_id, name: 'TOKEN' };
      return {
        deed: { request: asking('putVariable', { path, token }, { value, secret: true }) },
        async faults() {
          const { variables } = await readVariables(service.records, project_id);
          const found = variables.map((one) => [one.name, one.sealed !== null]);
          return unless('variables', found, [['TOKEN', true]]);
        },
      };
    },
  },
  {
    name: 'all variables are deleted',
    async prepare(ground) {
      const { service, token } = ground;
      const project_id = await projectOf(ground);
      for (const name of ['TOKEN', 'OTHER'])
        await told(
          ground,
          asking('putVariable', { path: { project_id, name }, token }, { value, secret: true }),
        );
      return {
        deed: { request: asking('deleteVariables', { path: { project_id }, token }) },
        faults: async () =>
          unless('variables', (await readVariables(service.records, project_id)).variables, []),
      };
    },
  },
  {
    name: 'a project is shared',
    async prepare(ground) {
      const { service, token } = ground;
      const { project_id, user, path } = await shared(ground, null);
      return {
        deed: { request: asking('putMember', { path, query: { role: 'developer' }, token }) },
        async faults() {
          const member = await findMember(service.records, project_id, user.user_id);
          return unless('the role', member?.role, 'developer');
        },
      };
    },
  },
  {
    name: 'a project is shared no longer',
    async prepare(ground) {
      const { service, token } = ground;
      const { project_id, user, path } = await shared(ground, 'viewer');
      return {
        deed: { request: asking('deleteMember', { path, token }) },
        alsoAnswers: [404],
        faults: async () =>
          unless('the member', await findMember(service.records, project_id, user.user_id), undefined),
      };
    },
  },
  {
    name: 'a project is handed over',
    async prepare(ground) {
      const { service, token } = ground;
      const { project_id, user } = await shared(ground, 'viewer');
      const query = { username: user.username };
      return {
        deed: { request: asking('transferProject', { path: { project_id }, query, token }) },
        // The former owner may not do it again.
        alsoAnswers: [403],
        async faults() {
          const { owner_id } = await requireProject(service.records, project_id);
          const former = await findMember(service.records, project_id, ground.user.user_id);
          const present = await findMember(service.records, project_id, user.user_id);
          return [
            ...unless('the owner', owner_id, user.user_id),
            ...unless('the role of the former one', former?.role, 'developer'),
            ...unless('the membership of the owner', present, undefined),
          ];
        },
      };
    },
  },
];
