import { createHash } from 'node:crypto';
import { checkConfigFile } from '../../../shared/config/check-config-file.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import {
  configCount,
  configMaxBytes,
  findConfig,
  lastDeletedVersion,
  maxConfigs,
  putConfig,
  versionsKept,
} from '../../../shared/data/projects/config.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { file } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { ConfigAnswer, configId, configPath } from './config-answer.ts';

/**
 * File name of a configuration. The parser checks the extension together with the file; the pattern documents the
 * allowed ones.
 */
const ConfigFileName = configId.meta({
  maxLength: 128,
  pattern: String.raw`^[A-Za-z0-9][A-Za-z0-9._-]*\.([Yy][Aa]?[Mm][Ll]|[Jj][Ss][Oo][Nn]|[Tt][Oo][Mm][Ll])$`,
});

/** Throw a 409 problem if the project has no room for another configuration. Rethrow any other error. */
function refuseConfig(error: unknown): never {
  if (error instanceof ConditionFailedError && error.isOnly(configCount)) {
    const detail = `The project has the maximum of ${maxConfigs} configurations. Delete one first.`;
    throw new ServiceError('conflict', detail, { cause: error });
  }
  throw error;
}

export const endpoint = defineEndpoint({
  name: 'putConfig',
  method: 'PUT',
  path: '/projects/{project_id}/configs/{config_id}',
  summary: 'Store a configuration file',
  description: `The body is the file, at most 256 KiB of UTF-8. Its name determines the format: .yaml, .yml, .json or .toml. Every change makes a new version, even after a delete. The newest ${versionsKept} are kept. Sending the current content again changes nothing.`,
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['sha256', 'version'] },
  needs: { records: writeRecords },
  input: { path: configPath.extend({ config_id: ConfigFileName }), body: file(['*/*'], configMaxBytes) },
  output: { 200: ConfigAnswer },
  problems: ['conflict', 'precondition-failed', 'too-large'],
  etag: true,

  async handle({ path: { config_id }, body: { bytes } }, context) {
    const { records, newId, now } = context;
    const format = await checkConfigFile(config_id, bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return changeInProject(context, async ({ project_id }) => {
      const previous = await findConfig(records, project_id, config_id);
      requirePrecondition(context, previous?.version);
      if (previous?.sha256 === sha256) return Reply.json(previous, { version: previous.version });
      const versions_before =
        previous?.versions_before ?? (await lastDeletedVersion(records, project_id, config_id));
      const updated_at = now().toISOString();
      const config = {
        project_id,
        config_id,
        format,
        size: bytes.length,
        sha256,
        created_at: previous?.created_at ?? updated_at,
        updated_at,
        version: (previous?.version ?? versions_before) + 1,
        versions_before,
        generation: previous?.generation ?? newId(),
      };
      context.noteAudit({ before: previous, after: { sha256, version: config.version } });
      await putConfig(records, config, bytes, previous).catch(refuseConfig);
      return Reply.json(config, { version: config.version });
    });
  },
});
