import * as z from 'zod';
import { listLinks } from '../../shared/data/projects/link.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../shared/http/definition/pagination.ts';
import { projectPath } from '../../shared/http/definition/parameters.ts';
import { LinkAnswer, showLink } from './link.ts';

export const endpoint = defineEndpoint({
  name: 'listLinks',
  method: 'GET',
  path: '/projects/{project_id}/links',
  summary: 'The links of a project that have not ended, newest first',
  allow: 'developer',
  project: 'owner',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(LinkAnswer) },

  handle: ({ path: { project_id }, query }, { records, now }) =>
    answerList(query, {
      fetch: (page) => listLinks(records, project_id, now(), page),
      keyOf: ({ link_id }) => link_id,
      show: showLink,
    }),
});
