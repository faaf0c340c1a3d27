import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { configRemains, deleteConfig, findConfigToRemove } from '../../../shared/data/projects/config.ts';
import { newPurge } from '../../../shared/data/projects/purge.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { purgeInRequest } from '../../../shared/purge/purge-in-request.ts';
import { configPath } from './config-answer.ts';

export const endpoint = defineEndpoint({
  name: 'deleteConfig',
  method: 'DELETE',
  path: '/projects/{project_id}/configs/{config_id}',
  summary: 'Delete a configuration with all its versions',
  description: 'Experiments keep the contents that they ran with.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords },
  input: { path: configPath },
  output: { 200: z.object({ config_id: FileId, deleted: z.object({ versions: z.number().int() }) }) },
  problems: ['not-found', 'conflict', 'precondition-failed'],

  async handle({ path: { config_id } }, context) {
    const { records, log } = context;
    const { config, purge } = await changeInProject(context, async ({ project_id }) => {
      const found = await findConfigToRemove(records, project_id, config_id);
      if (found === undefined) throw notFound('config', config_id);
      const { config, unchanged } = found;
      requirePrecondition(context, config.version);
      const purge = newPurge(context, configRemains(config));
      await deleteConfig(records, config, unchanged, purge);
      return { config, purge };
    });
    await purgeInRequest({ records, objects: undefined, log }, purge);
    return { config_id, deleted: { versions: config.version - config.versions_before } };
  },
});
