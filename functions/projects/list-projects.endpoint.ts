import * as z from 'zod';
import { readRecords } from '../../shared/data/needs.ts';
import { listProjects } from '../../shared/data/project.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { answerList, paging } from '../../shared/http/paging.ts';
import { ProjectAnswer } from './project-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listProjects',
  method: 'GET',
  path: '/projects/',
  summary: 'All projects, newest first',
  allow: 'viewer',
  needs: { records: readRecords },
  input: { query: z.strictObject(paging) },
  output: { 200: z.array(ProjectAnswer) },
  fieldsMask: true,

  handle({ query }, { records }) {
    return answerList(query, {
      fetch: (page) => listProjects(records, page),
      keyOf: (project) => project.project_id,
      show: (project) => project,
    });
  },
});

export const handler = lambda(endpoint);
