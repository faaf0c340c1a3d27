import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { removeLink } from '../../shared/data/projects/link.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { linkPath } from './link.ts';

export const endpoint = defineEndpoint({
  name: 'deleteLink',
  method: 'DELETE',
  path: '/projects/{project_id}/links/{link_id}',
  summary: 'Revoke a link of a project',
  description: 'It shows nothing from the next request on.',
  allow: 'developer',
  project: 'owner',
  needs: { records: writeRecords },
  input: { path: linkPath },
  output: { 200: z.object({ link_id: Ulid }) },
  problems: ['not-found', 'conflict'],

  async handle({ path: { project_id, link_id } }, { records }) {
    if (!(await removeLink(records, project_id, link_id))) throw notFound('link', link_id);
    return { link_id };
  },
});
