import { buildRouteMap } from '@stricli/core';
import type { endpoint as deleteMember } from '../../../functions/projects/members/delete-member.endpoint.ts';
import type { endpoint as listMembers } from '../../../functions/projects/members/list-members.endpoint.ts';
import type { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { usageFaults } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { projectSession } from '../../projects/project-session.ts';
import { command } from '../command.ts';
import { json, project } from '../flags.ts';
import { removeNamed } from './remove-named.ts';

const roles = ['viewer', 'developer'] as const;

const addCommand = command({
  brief: 'Share the project with a user, or change the role of a member',
  help: `Only the owner of the project and admins share it.

Examples:
  mps members add grace
  mps members add alan --role viewer`,
  args: [{ brief: 'Name of the user', placeholder: 'NAME', parse: String }],
  flags: {
    role: {
      kind: 'enum',
      values: roles,
      brief: 'viewer reads; developer also changes and trains (default)',
      optional: true,
    },
    project,
    json,
  },
  async run({ role = 'developer', project: given, json: isJson }, username) {
    const { client, path } = await projectSession(this, given);
    const member = await usageFaults(
      client.call<typeof putMember>('PUT /projects/{project_id}/members/{username}', {
        path: { ...path, username },
        fields: { role },
      }),
    );
    if (isJson) this.printer.json(member);
    else this.printer.say(`${member.username} is a ${member.role} of the project.`);
  },
});

const lsCommand = command({
  brief: 'List the members of the project',
  help: 'Example:\n  mps members ls',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const members = await client.call<typeof listMembers>('GET /projects/{project_id}/members', { path });
    await this.printer.list(members, isJson, ['USER', 'ROLE', 'SINCE'], (member) => [
      member.username,
      member.role,
      member.added_at?.slice(0, 10) ?? '-',
    ]);
  },
});

const removeCommand = removeNamed({
  many: 'Members',
  brief: 'Stop sharing the project with users',
  example: 'mps members remove grace',
  remove: ({ client, path }, username) =>
    client.call<typeof deleteMember>('DELETE /projects/{project_id}/members/{username}', {
      path: { ...path, username },
    }),
  said: (username) => `${username} is no longer a member of the project.`,
});

export const memberRoutes = buildRouteMap<string, CliContext>({
  routes: { add: addCommand, ls: lsCommand, remove: removeCommand },
  docs: { brief: 'Share a project with other users' },
});
