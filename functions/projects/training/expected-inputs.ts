import { createHash } from 'node:crypto';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import {
  type Config,
  findConfig,
  listConfigs,
  readConfigContent,
  readConfigVersion,
} from '../../../shared/data/projects/config.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { versionNumber } from '../configs/config-answer.ts';
import { noVersion } from '../configs/stored-config.ts';
import { uploadedSha256 } from '../uploads/upload.ts';

export interface ExpectedInputs {
  config_version?: number | undefined;
  environment_version?: number | undefined;
  source_sha256?: string | undefined;
}

/**
 * Query parameters that name the inputs a client expects. Another client may have changed the project since this
 * client stored its inputs: a sweep begins many trainings of one folder at the same moment.
 */
export const expectedParameters = {
  config_version: versionNumber
    .optional()
    .describe('Version of the configuration to train with, such as `3`. Default: the newest.'),
  environment_version: integer(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Version that the environment must have, such as `3`, its ETag; otherwise nothing starts.'),
  source_sha256: uploadedSha256
    .optional()
    .describe('Digest that the source must have; otherwise nothing starts.'),
};

/**
 * Check that the project holds the expected inputs.
 * @throws ServiceError `conflict` that names the parameters that differ
 */
export function requireExpected(
  expected: ExpectedInputs,
  { environment, source }: { environment: { version: number }; source: { sha256: string } | undefined },
): void {
  const present = { environment_version: environment.version, source_sha256: source?.sha256 };
  const errors = (['environment_version', 'source_sha256'] as const)
    .filter((name) => expected[name] !== undefined && expected[name] !== present[name])
    .map((name) => ({ in: 'query' as const, name, message: `is ${present[name] ?? 'none'} now` }));
  if (errors.length === 0) return;
  const told = errors.map(({ name, message }) => `${name} ${message}`).join(', ');
  const detail = `The project has changed: ${told}. Put your inputs again and repeat the request.`;
  throw new ServiceError('conflict', detail, { errors });
}

/** Return the content, version and digest of the expected version. @throws ServiceError `not-found` */
export async function expectedConfig(
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

/**
 * Choose the configuration to train with: the named one, else the project's only one, else the one last trained.
 * Throw a 409 that lists the choices if none of these exists.
 */
export async function chooseConfig(
  records: TableReader<'records'>,
  project_id: string,
  named: string | undefined,
): Promise<Config> {
  if (named !== undefined) {
    const config = await findConfig(records, project_id, named);
    if (config === undefined) throw notFound('config', named);
    return config;
  }
  const { items, next } = await listConfigs(records, project_id, { limit: maxNamed, after: undefined });
  const [only] = items;
  if (only === undefined) throw new ServiceError('conflict', 'The project has no configuration yet.');
  if (items.length === 1) return only;
  const latest = await listExperiments(records, project_id, { limit: lookedAt });
  const trained = latest.items.find((item) => item.config_id !== null)?.config_id ?? undefined;
  const last = trained && (await findConfig(records, project_id, trained));
  if (last) return last;
  const choices = items.map(({ config_id }) => config_id).join(', ');
  throw new ServiceError(
    'conflict',
    `Choose a configuration with config=…: ${choices}${next === undefined ? '' : ', …'}`,
  );
}

/** Maximum number of choices that an error message lists. */
const maxNamed = 20;

/** Number of latest experiments to search for the last training. */
const lookedAt = 100;
