import * as z from 'zod';
import { readHooks } from '../../../shared/data/hooks/hook.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { HookAnswer, showHook } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'listHooks',
  method: 'GET',
  path: '/projects/{project_id}/hooks',
  summary: 'The hooks of a project, by name',
  description: 'Of a URL only the host is shown.',
  allow: 'viewer',
  project: 'viewer',
  right: 'none',
  needs: { records: readRecords },
  input: { path: projectPath },
  work: 'page: the limit of every list',
  output: { 200: z.array(HookAnswer) },
  etag: true,

  async handle({ path: { project_id } }, { records }) {
    const { hooks, version } = await readHooks(records, project_id);
    return Reply.json(hooks.map(showHook), { version });
  },
});
