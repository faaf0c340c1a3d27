import * as z from 'zod';
import { readHooksToReplace, replaceHooks } from '../../../shared/data/hooks/hook.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { hookPath, requireHook } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'deleteHook',
  method: 'DELETE',
  path: '/projects/{project_id}/hooks/{name}',
  summary: 'Delete a hook of a project',
  description: 'Messages that have not been delivered are dropped.',
  allow: 'developer',
  project: 'owner',
  needs: { records: writeRecords },
  input: { path: hookPath },
  output: { 200: z.object({ name: z.string() }) },
  problems: ['not-found', 'conflict', 'precondition-failed'],

  handle({ path: { name } }, context) {
    const { records } = context;
    return changeInProject(context, async ({ project_id }) => {
      const { exists, ...present } = await readHooksToReplace(records, project_id);
      const hook = requireHook(present, name);
      requirePrecondition(context, hook.version);
      const hooks = present.hooks.filter((one) => one !== hook);
      const versions_before = Math.max(present.versions_before, hook.version);
      const changed = { project_id, hooks, versions_before, version: present.version + 1 };
      await records.write(...replaceHooks(changed, { version: present.version, exists }));
      return { name };
    });
  },
});
