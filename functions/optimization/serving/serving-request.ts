import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';
import { badRequest, type ParameterFault, ServiceError } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { ServingAccess } from '../../../shared/data/models/serving.ts';
import { estimatedMemory, functionMemory } from '../../../shared/data/models/serving-memory.ts';
import { flag, integer } from '../../../shared/http/definition/parameters.ts';
import { modelName } from '../models/model-request.ts';

export const versionPath = z.strictObject({
  model_name: modelName,
  version: FileId.describe(
    '`original` for the model itself, the id of a strategy for its result, or any other name for an alias.',
  ),
});

/** Parameters of serving. Those that are left out keep their value. */
export const servingParameters = z.strictObject({
  version: FileId.optional().describe(
    'What answers requests without a version: `original` (default), the id of a strategy, whose result is added, or an alias.',
  ),
  access: ServingAccess.optional().describe(
    '`viewer` (default): every account that may read. `members`: its owner, admins and members of the project that trained it. `anyone`: callers without an account, too.',
  ),
  requests_per_second: integer(1, 1000)
    .optional()
    .describe('With `access=anyone`: requests per second that callers without an account get. Default: 5.'),
  memory: integer(128, 10_240)
    .optional()
    .describe('MiB that a version may take in memory. Default: estimated by its bytes.'),
  max_batch: integer(1, 65_536)
    .optional()
    .describe('Largest first dimension of an input, where the model leaves it free. Default: 256.'),
  warm: flag
    .optional()
    .describe(
      'Whether each instance of the function loads the model when the instance starts, and removes it from memory last. This keeps no instance running, so it costs nothing while there are no requests. Default: `false`.',
    ),
});

const mebibyte = 2 ** 20;

/**
 * Refuse a version that the function cannot hold.
 * @throws ServiceError `conflict` with the numbers, `bad-request` for too little or too much `memory`
 */
export function requireFit(
  { bytes, name, needs = estimatedMemory(bytes) }: { bytes: number; name: string; needs?: number },
  memory: number | null,
  { serving }: Pick<Settings, 'serving'>,
): void {
  const most = serving.memory - functionMemory;
  const faults: ParameterFault[] = [];
  if (memory !== null && memory > most) {
    const message = `must be at most ${most} MiB: the function has ${serving.memory} MiB, of which it needs ${functionMemory} itself`;
    faults.push({ in: 'query', name: 'memory', message });
  }
  if (memory !== null && memory < Math.ceil(bytes / mebibyte)) {
    const message = `must be at least ${Math.ceil(bytes / mebibyte)} MiB, the size of the version ${name}; about ${needs} are needed`;
    faults.push({ in: 'query', name: 'memory', message });
  }
  if (faults.length > 0) throw badRequest(faults);
  const needed = memory ?? needs;
  const lacks: string[] = [];
  if (needed > most)
    lacks.push(`it needs about ${needed} MiB of memory, but the function has ${most} for models`);
  if (bytes > serving.disk * mebibyte)
    lacks.push(
      `its files have ${Math.ceil(bytes / mebibyte)} MiB, but the disk of the function has ${serving.disk}`,
    );
  if (lacks.length === 0) return;
  const detail = `The version ${name} is too large to be served: ${lacks.join('; ')}. Compress it first, or raise servingMemory and servingDisk of the deployment.`;
  throw new ServiceError('conflict', detail);
}
