import * as z from 'zod';
import { parseConfig } from '../../../shared/config/parse-config.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { unreadableConfig } from '../../../shared/training/stored-text.ts';
import { ConfigDetails } from './config-answer.ts';
import { requireExperimentConfig } from './stored-config.ts';

const ExperimentConfigAnswer = ConfigDetails.pick({
  config_id: true,
  format: true,
  size: true,
  sha256: true,
  content: true,
  data: true,
})
  .extend({ experiment_id: Ulid, config_version: z.number().int() })
  .meta({ id: 'ExperimentConfig' });

export const endpoint = defineEndpoint({
  name: 'readExperimentConfig',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/config',
  summary: 'The configuration that an experiment runs with',
  description:
    "The experiment has its own copy, so later changes of the project's configuration do not affect it. `content` and `data` are as in the details of a configuration.",
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: experimentPath },
  output: { 200: ExperimentConfigAnswer },
  problems: ['not-found', 'conflict', 'too-large'],
  etag: true,

  async handle({ path: { project_id, experiment_id } }, { records }) {
    const experiment = await requireExperimentConfig(records, project_id, experiment_id);
    const { config_id, config_version, config_sha256, bytes, content } = experiment;
    const parsed = await parseConfig({ config_id, content });
    if ('fault' in parsed) throw unreadableConfig(config_id, parsed.fault);
    const { format, data } = parsed;
    const file = { config_id, config_version, format, size: bytes.length, sha256: config_sha256 };
    return Reply.json({ experiment_id, ...file, content, data }, { version: config_version });
  },
});
