import * as z from 'zod';
import { reachesProject } from '../../../shared/data/accounts/token-scope.ts';
import { criteriaOf } from '../../../shared/data/projects/inferred-criterion.ts';
import { listOwnProjects } from '../../../shared/data/projects/member.ts';
import { countersKey, listProjects, parseCounters } from '../../../shared/data/projects/project.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { pageOf, readPage } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { flag } from '../../../shared/http/definition/parameters.ts';
import { criterionOf } from '../../../shared/metrics/criteria.ts';
import { ListedProject, showProject } from './project-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listProjects',
  method: 'GET',
  path: '/projects/',
  summary: 'All projects, newest first',
  description:
    '`member=true` lists only projects that the caller owns or that are shared with them. `deleted=true` lists the deleted ones that can be restored.',
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: { records: readRecords },
  input: {
    query: z.strictObject({
      member: flag.optional().describe('`true` lists only your own projects and those shared with you.'),
      deleted: flag
        .optional()
        .describe('`true` lists the projects that are marked as deleted instead of the others.'),
      ...paging,
    }),
  },
  work: 'page: the limit of every list',
  output: { 200: z.array(ListedProject) },
  fieldsMask: true,

  handle({ query }, { records, caller }) {
    return answerList(query, {
      fetch: async (position) => {
        const page = await (query.member
          ? listOwnProjects(records, caller.user_id, position)
          : listProjects(records, position));
        const listed = page.items.filter(
          ({ project_id, deleted_at }) =>
            (deleted_at !== undefined) === (query.deleted ?? false) && reachesProject(caller, project_id),
        );
        const [criteria, counters] = await Promise.all([
          criteriaOf(records, listed),
          records.batchGet(listed.map(({ project_id }) => countersKey(project_id))),
        ]);
        return {
          ...page,
          items: listed.map((project, index) => ({
            project,
            criterion: criteria.get(project.project_id),
            counted: readPage(pageOf(counters[index]), parseCounters).items[0],
          })),
        };
      },
      keyOf: ({ project }) => project.project_id,
      show: ({ project, criterion = criterionOf(project), counted }) => ({
        ...showProject(project, criterion),
        experiments: counted?.experiments ?? 0,
      }),
    });
  },
});
