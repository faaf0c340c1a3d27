import * as z from 'zod';
import { forSeconds } from '../../shared/core/deadline.ts';
import { FileId } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { changeInProject } from '../../shared/data/change-in-project.ts';
import { configRemains, deleteConfig, findConfigToRemove } from '../../shared/data/config.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { requirePrecondition } from '../../shared/http/precondition.ts';
import { runPurge } from '../../shared/purge/run-purge.ts';
import { configPath } from './config-answer.ts';

/** What is not removed by then waits for the purge event; a request has 29 s in all. */
const purgeSeconds = 10;

export const endpoint = defineEndpoint({
  name: 'deleteConfig',
  method: 'DELETE',
  path: '/projects/{project_id}/configs/{config_id}',
  summary: 'Delete a configuration with all its versions',
  description: 'Experiments keep the contents that they ran with.',
  allow: 'developer',
  project: 'own',
  needs: { records: writeRecords },
  input: { path: configPath },
  output: { 200: z.object({ config_id: FileId, deleted: z.object({ versions: z.number().int() }) }) },
  problems: ['not-found', 'conflict', 'precondition-failed'],

  async handle({ path: { config_id } }, { records, project, newId, now, log, header, expectedVersion }) {
    const { config, purge } = await changeInProject(records, project, async ({ project_id }) => {
      const found = await findConfigToRemove(records, project_id, config_id);
      if (found === undefined) throw notFound('config', config_id);
      const { config, unchanged } = found;
      requirePrecondition({ header, expectedVersion }, config.version);
      const purge = {
        purge_id: newId(),
        created_at: now().toISOString(),
        again_at: null,
        target: configRemains(config),
      };
      await deleteConfig(records, config, unchanged, purge);
      return { config, purge };
    });
    try {
      await runPurge(records, undefined, purge, forSeconds(purgeSeconds));
    } catch (error) {
      // The configuration is gone and the rest is on record, so the request has succeeded.
      log.warn('purge-later', { purge_id: purge.purge_id, error: error instanceof Error ? error.name : '' });
    }
    return { config_id, deleted: { versions: config.version - config.versions_before } };
  },
});

export const handler = lambda(endpoint);
