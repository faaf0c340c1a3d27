import * as z from 'zod';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { findMemberToReplace, MemberRole, putMember } from '../../../shared/data/projects/member.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { isOwner, MemberAnswer, memberPath, refuseMembers, requireUserByName } from './member.ts';

export const endpoint = defineEndpoint({
  name: 'putMember',
  method: 'PUT',
  path: '/projects/{project_id}/members/{username}',
  summary: 'Share a project with a user, or change their role in it',
  description:
    'The project appears in the list of a `viewer`. A `developer` may change its contents and train. The account type limits the role: a viewer’s account cannot train. PUT …/owner changes the owner.',
  allow: 'developer',
  project: 'owner',
  audit: { fields: ['role'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: {
    path: memberPath,
    queryOrBody: z.strictObject({ role: MemberRole.describe('Their new role.') }),
  },
  output: { 200: MemberAnswer },
  problems: ['conflict'],

  async handle({ path, queryOrBody: { role } }, context) {
    const { records, accounts, now } = context;
    const { user_id, username } = await requireUserByName(accounts, path.username);
    return changeInProject(context, async (project) => {
      const { project_id, owner_id } = project;
      if (user_id === owner_id) throw isOwner(username);
      const previous = await findMemberToReplace(records, project_id, user_id);
      context.noteAudit({ before: previous });
      const member = {
        project_id,
        user_id,
        username,
        role,
        added_at: previous?.added_at || now().toISOString(),
        version: (previous?.version ?? 0) + 1,
      };
      await putMember(records, project, member, previous).catch(refuseMembers);
      return member;
    });
  },
});
