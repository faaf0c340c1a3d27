import { readHooks } from '../../../shared/data/hooks/hook.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { HookAnswer, hookPath, requireHook, showHook } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'readHook',
  method: 'GET',
  path: '/projects/{project_id}/hooks/{name}',
  summary: 'A hook of a project',
  description: 'Of its URL only the host is shown.',
  allow: 'viewer',
  project: 'viewer',
  right: 'none',
  needs: { records: readRecords },
  input: { path: hookPath },
  output: { 200: HookAnswer },
  problems: ['not-found'],
  etag: true,

  async handle({ path: { project_id, name } }, { records }) {
    const hook = requireHook(await readHooks(records, project_id), name);
    return Reply.json(showHook(hook), { version: hook.version });
  },
});
