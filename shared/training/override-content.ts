import { OverrideError, type Overrides, overrideConfig } from '../config/override-config.ts';
import { configKey, maxSmall } from '../config/parse-config.ts';
import { badRequest, type ParameterFault } from '../core/service-error.ts';
import { configMaxBytes } from '../data/projects/config.ts';
import { workerTask } from '../process/worker-task.ts';

/**
 * Return the bytes of a configuration with some values replaced.
 * @throws ServiceError 400 that names the values that cannot be replaced, 413, 503
 */
export async function overrideContent(
  config_id: string,
  bytes: Uint8Array,
  overrides: Overrides,
): Promise<Uint8Array> {
  const given = { config_id, content: Buffer.from(bytes).toString('utf8'), overrides };
  const found = given.content.length <= maxSmall ? override(given) : await overrideOnThread(given);
  if ('fault' in found) throw badRequest([fault(found.fault)]);
  const content = Buffer.from(found.content);
  if (content.length > configMaxBytes)
    throw badRequest([fault(`makes the configuration larger than ${configMaxBytes} bytes`)]);
  return content;
}

function override({ config_id, content, overrides }: Overriding): Overridden {
  try {
    return { content: overrideConfig(config_id, content, overrides) };
  } catch (error) {
    if (error instanceof OverrideError) return { fault: error.message };
    throw error;
  }
}

interface Overriding {
  config_id: string;
  content: string;
  overrides: Overrides;
}

type Overridden = { content: string } | { fault: string };

const overrideOnThread = workerTask({
  module: import.meta.url,
  name: 'override-config',
  run: override,
  keyOf: (overriding) => `${configKey(overriding)}\n${JSON.stringify(overriding.overrides)}`,
  sizeOf: () => 1_000_000,
  tooHeavy: 'The configuration takes too long to change. Upload the changed file and name it with config=….',
});

const fault = (message: string): ParameterFault => ({ in: 'query', name: 'overrides', message });
