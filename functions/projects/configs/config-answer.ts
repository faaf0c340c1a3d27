import * as z from 'zod';
import { FileId, Sha256, Timestamp } from '../../../shared/core/formats.ts';
import { versionsKept } from '../../../shared/data/projects/config.ts';
import { integer, projectId } from '../../../shared/http/definition/parameters.ts';

/** A configuration in lists and in responses to changes. */
export const ConfigAnswer = z
  .object({
    config_id: FileId,
    format: z.enum(['yaml', 'json', 'toml']),
    size: z.number().int(),
    sha256: Sha256,
    version: z.number().int(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Config' });

export const configId = FileId.describe('File name of the configuration, such as `train.yaml`.');

/** Path parameters of every operation on one configuration. */
export const configPath = z.strictObject({ project_id: projectId, config_id: configId });

/** Version number of a configuration. */
export const versionNumber = integer(1, 9_999_999_999);

/** Query that selects the version of a configuration. */
export const versionQuery = z.strictObject({
  version: versionNumber
    .optional()
    .describe(`Version, such as \`3\`; the newest ${versionsKept} are kept. Default: the newest.`),
});

/** A configuration with its contents, as text and parsed. */
export const ConfigDetails = ConfigAnswer.extend({
  updated_at: Timestamp.nullable().describe('When this version was stored; null if not recorded.'),
  content: z.string(),
  /** A mapping or a list. It keeps all keys; a schema of a record would drop unknown ones. */
  data: z.unknown(),
}).meta({ id: 'ConfigDetails' });
