import { notFound } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { findMemberToReplace, removeMember } from '../../../shared/data/projects/member.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { isOwner, MemberAnswer, memberPath, requireUserByName } from './member.ts';

export const endpoint = defineEndpoint({
  name: 'deleteMember',
  method: 'DELETE',
  path: '/projects/{project_id}/members/{username}',
  summary: 'Stop sharing a project with a user',
  description: "The user's jobs in the project continue. The owner can cancel them.",
  allow: 'developer',
  project: 'owner',
  audit: { fields: ['role'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: { path: memberPath },
  output: { 200: MemberAnswer },
  problems: ['conflict'],

  async handle({ path }, context) {
    const { records, accounts } = context;
    const { user_id, username } = await requireUserByName(accounts, path.username);
    return changeInProject(context, async (project) => {
      if (user_id === project.owner_id) throw isOwner(username);
      const member = await findMemberToReplace(records, project.project_id, user_id);
      if (member === undefined) throw notFound('member', username);
      context.noteAudit({ before: member });
      await removeMember(records, project, member);
      return { ...member, username };
    });
  },
});
