import { createHash } from 'node:crypto';
import { workerTask } from '../process/worker-task.ts';
import { ConfigSyntaxError } from './config-syntax-error.ts';
import type { ConfigCollection } from './config-value.ts';
import { type ConfigFormat, parseConfigFile } from './parse-config-file.ts';

/** A stored or uploaded configuration. */
export interface ConfigText {
  config_id: string;
  content: string;
}

type ConfigData = { format: ConfigFormat; data: ConfigCollection } | { fault: string };

/**
 * Maximum number of characters of a configuration that is parsed without a worker thread. This takes some
 * milliseconds.
 */
export const maxSmall = 8_192;

/** Return a cache key, which is equal for configurations with the same name and content. */
export const configKey = ({ config_id, content }: ConfigText): string =>
  `${config_id}\n${createHash('sha256').update(content).digest('base64')}`;

const parseOnThread = workerTask({
  module: import.meta.url,
  name: 'parse-config',
  run: parseText,
  keyOf: configKey,
  // A parsed object takes several times the memory of its text.
  sizeOf: (result) => ('fault' in result ? 1000 : 1_000_000),
  tooHeavy: 'The configuration takes too long to parse. Split it into smaller files.',
});

/**
 * Parse a configuration, a large one on a worker thread. An error names its line and column.
 *
 * @throws ServiceError 413, 503
 */
export const parseConfig = async (config: ConfigText): Promise<ConfigData> =>
  config.content.length <= maxSmall ? parseText(config) : parseOnThread(config);

function parseText({ config_id, content }: ConfigText): ConfigData {
  try {
    const { format, data } = parseConfigFile(config_id, content);
    return { format, data };
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return { fault: error.message };
    throw error;
  }
}
