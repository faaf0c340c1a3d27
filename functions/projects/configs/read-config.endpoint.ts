import { parseConfig } from '../../../shared/config/parse-config.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { unreadableConfig } from '../../../shared/training/stored-text.ts';
import { ConfigDetails, configPath, versionQuery } from './config-answer.ts';
import { requireStoredConfig } from './stored-config.ts';

export const endpoint = defineEndpoint({
  name: 'readConfig',
  method: 'GET',
  path: '/projects/{project_id}/configs/{config_id}',
  summary: 'Details of a configuration, with its contents',
  description:
    '`content` is the file as it was sent, and `data` its parsed values. In `data`, integers beyond ±2^53, NaN and the infinities are strings, and YAML aliases and merges are resolved.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: configPath, query: versionQuery },
  output: { 200: ConfigDetails },
  problems: ['not-found', 'conflict', 'too-large'],
  etag: true,

  async handle({ path: { project_id, config_id }, query }, { records }) {
    const { config, content } = await requireStoredConfig(records, project_id, config_id, query.version);
    const parsed = await parseConfig({ config_id, content });
    if ('fault' in parsed) throw unreadableConfig(config_id, parsed.fault);
    return Reply.json({ ...config, content, data: parsed.data }, { version: config.version });
  },
});
