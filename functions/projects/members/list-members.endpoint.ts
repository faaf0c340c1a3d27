import * as z from 'zod';
import { listMembers } from '../../../shared/data/projects/member.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { MemberAnswer } from './member.ts';

export const endpoint = defineEndpoint({
  name: 'listMembers',
  method: 'GET',
  path: '/projects/{project_id}/members',
  summary: 'The members of a project, its owner first',
  description:
    'The other members follow, oldest account first. A project without an owner lists only members.',
  allow: 'viewer',
  project: 'viewer',
  right: 'none',
  needs: { records: readRecords },
  input: { path: projectPath },
  work: 'page: the limit of every list',
  output: { 200: z.array(MemberAnswer) },

  async handle(_, { records, project: { project_id, owner, owner_id } }) {
    const { items, unreadable = [] } = await listMembers(records, project_id);
    const ownerRow = { user_id: owner_id, username: owner ?? '', role: 'owner' as const, added_at: null };
    return Reply.json([...(owner === null ? [] : [ownerRow]), ...items], { unreadable });
  },
});
