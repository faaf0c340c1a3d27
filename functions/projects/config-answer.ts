import * as z from 'zod';
import { FileId, Sha256, Timestamp } from '../../shared/core/formats.ts';
import { projectId } from '../../shared/http/project-path.ts';

export const configId = FileId.describe('File name of the configuration, such as `train.yaml`.');

/** Path parameters of everything about one configuration. */
export const configPath = z.strictObject({ project_id: projectId, config_id: configId });

/** A configuration as lists and changes answer it. */
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

/** A configuration with its contents, as text and parsed. */
export const ConfigDetails = ConfigAnswer.extend({
  content: z.string(),
  /** A mapping or a list. All its keys are kept, unlike by a schema of records. */
  data: z.unknown(),
}).meta({ id: 'ConfigDetails' });
