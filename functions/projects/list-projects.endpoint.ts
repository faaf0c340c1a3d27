import * as z from 'zod';
import { listOwnProjects } from '../../shared/data/member.ts';
import { readRecords } from '../../shared/data/needs.ts';
import { listProjects } from '../../shared/data/project.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { answerList, paging } from '../../shared/http/paging.ts';
import { flag } from '../../shared/http/parameters.ts';
import { ProjectAnswer, showProject } from './project-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listProjects',
  method: 'GET',
  path: '/projects/',
  summary: 'All projects, newest first',
  description: 'With `member=true` only those that the caller owns, or that are shared with them.',
  allow: 'viewer',
  needs: { records: readRecords },
  input: {
    query: z.strictObject({
      member: flag.optional().describe('`true` lists only your own projects and those shared with you.'),
      ...paging,
    }),
  },
  output: { 200: z.array(ProjectAnswer) },
  fieldsMask: true,

  handle({ query }, { records, caller }) {
    return answerList(query, {
      fetch: (page) =>
        query.member ? listOwnProjects(records, caller.user_id, page) : listProjects(records, page),
      keyOf: (project) => project.project_id,
      show: showProject,
    });
  },
});

export const handler = lambda(endpoint);
