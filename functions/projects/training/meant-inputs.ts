import { createHash } from 'node:crypto';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { type Config, readConfigContent, readConfigVersion } from '../../../shared/data/projects/config.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { versionNumber } from '../configs/config-answer.ts';
import { noVersion } from '../configs/stored-config.ts';
import { uploadedSha256 } from '../uploads/upload-answer.ts';

/**
 * Query parameters that say which inputs a client means. Between its changes of a project and its request another one may
 * have changed the project: a sweep begins many trainings of one folder at the same moment.
 */
export const meantParameters = {
  config_version: versionNumber
    .optional()
    .describe('Version of the configuration to train with, such as `3`. Default: the newest.'),
  environment_version: integer(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      'Version that the environment must have, such as `3`, its ETag; with another one nothing begins.',
    ),
  source_sha256: uploadedSha256
    .optional()
    .describe('Digest that the source must have; with another one nothing begins.'),
};

export interface MeantInputs {
  config_version?: number | undefined;
  environment_version?: number | undefined;
  source_sha256?: string | undefined;
}

/** @throws ServiceError `conflict` that names the parameters, where the project holds other inputs than those that are meant */
export function requireMeant(
  meant: MeantInputs,
  { environment, source }: { environment: { version: number }; source: { sha256: string } | undefined },
): void {
  const present = { environment_version: environment.version, source_sha256: source?.sha256 };
  const errors = (['environment_version', 'source_sha256'] as const)
    .filter((name) => meant[name] !== undefined && meant[name] !== present[name])
    .map((name) => ({ in: 'query' as const, name, message: `is ${present[name] ?? 'none'} now` }));
  if (errors.length === 0) return;
  const told = errors.map(({ name, message }) => `${name} ${message}`).join(', ');
  const detail = `Somebody has changed the project: ${told}. Put your inputs again and repeat the request.`;
  throw new ServiceError('conflict', detail, { errors });
}

/** The content of the version that is meant, with its version and digest. @throws ServiceError `not-found` */
export async function meantConfig(
  records: TableReader<'records'>,
  config: Config,
  version: number = config.version,
): Promise<{ config_version: number; config_sha256: string; content: Uint8Array }> {
  const { version: newest, sha256: config_sha256 } = config;
  if (version === newest) {
    const content = await readConfigContent(records, config);
    if (content === undefined) throw notFound('config', config.config_id);
    return { config_version: newest, config_sha256, content };
  }
  const found = await readConfigVersion(records, config, version);
  if (found === undefined) throw noVersion(config, version);
  const { content } = found;
  return {
    config_version: version,
    config_sha256: createHash('sha256').update(content).digest('hex'),
    content,
  };
}
