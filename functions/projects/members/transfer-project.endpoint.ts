import * as z from 'zod';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { accountTypes, Username } from '../../../shared/data/accounts/user.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { findMemberToReplace, transferProject } from '../../../shared/data/projects/member.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { ProjectAnswer, showProject } from '../projects/project-answer.ts';
import { refuseMembers, requireUserByName } from './member.ts';

export const endpoint = defineEndpoint({
  name: 'transferProject',
  method: 'PUT',
  path: '/projects/{project_id}/owner',
  summary: 'Hand a project over to another owner',
  description:
    'The former owner becomes a developer of the project. An admin can give a new owner to a project whose owner was deleted. Running jobs still count towards the limits of the users who started them.',
  allow: 'developer',
  project: 'owner',
  audit: { fields: ['username'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: {
    path: projectPath,
    queryOrBody: z.strictObject({ username: Username.describe('Name of the new owner, such as `ada`.') }),
  },
  output: { 200: ProjectAnswer },
  problems: ['conflict'],

  async handle({ queryOrBody }, context) {
    const { records, accounts, now } = context;
    const user = await requireUserByName(accounts, queryOrBody.username);
    if (accountTypes.indexOf(user.account_type) < accountTypes.indexOf('developer')) {
      throw new ServiceError(
        'conflict',
        `The account of ${user.username} is of type ${user.account_type}; only developers and admins can own projects.`,
      );
    }
    const handed = await changeInProject(context, async (project) => {
      if (project.owner === user.username && project.owner_id === user.user_id) return project;
      context.noteAudit({ before: { username: project.owner } });
      const present = await findMemberToReplace(records, project.project_id, user.user_id);
      return transferProject(records, project, user, present, now()).catch(refuseMembers);
    });
    return showProject(handed, await readCriterion(records, handed.project_id));
  },
});
