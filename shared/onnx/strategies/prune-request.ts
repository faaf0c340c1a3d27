import * as z from 'zod';
import {
  type Checked,
  checkValues,
  commonRules,
  type ValuesOf,
  valueSchemasOf,
  wholeNumber,
} from './parameter.ts';
import { type PruneStrategy, pruneFacts, pruneParameters, pruneStrategyNames } from './prune-strategies.ts';
import { quantizeParameters, quantizeStrategyNames } from './quantize-strategies.ts';
import { searchRules } from './search-rules.ts';

/** A pruning request with every default filled in. */
export type PruneRequest = { operation: 'prune'; strategy: PruneStrategy } & ValuesOf<typeof pruneParameters>;

/**
 * Return the schema of each pruning strategy, for validation and for publication. Schemas are created on first
 * use, not on import.
 */
export const pruneSchemas = () => pruneStrategyNames.map((strategy) => schemaOf(strategy));

const schemaOf = <S extends PruneStrategy>(strategy: S) =>
  z
    .strictObject({
      operation: z.literal('prune').default('prune'),
      strategy: z.literal(strategy),
      compression: compressionOf(strategy),
      allocation: allocationOf(strategy),
      ...commonRules(pruneParameters),
      ...searchRules(pruneFacts(strategy).searches === true, strategy, pruneParameters.max_error),
    })
    .describe(pruneFacts(strategy).description);

function compressionOf(strategy: PruneStrategy) {
  const { compression } = pruneFacts(strategy);
  const { bounds, otherwise, description } = pruneParameters.compression;
  const rule =
    compression === undefined
      ? wholeNumber(bounds).default(otherwise)
      : only(compression, `must be ${compression} with ${strategy}`);
  return rule.describe(description);
}

/** Accept one value only. A request may leave it out if it is the default compression. */
function only(compression: number, message: string) {
  const value = z.literal(compression, message);
  return compression === pruneParameters.compression.otherwise ? value.default(compression) : value;
}

function allocationOf(strategy: PruneStrategy) {
  const { values, description } = pruneParameters.allocation;
  const rule =
    pruneFacts(strategy).isAllocated === true
      ? z.enum(values, `must be ${values.join(' or ')}`).default('sensitivity')
      : z.literal('uniform', `must be uniform with ${strategy}`).default('uniform');
  return rule.describe(description);
}

const fixed = pruneStrategyNames.flatMap((strategy) => {
  const { compression } = pruneFacts(strategy);
  return compression === undefined ? [] : [`, and ${compression} with ${strategy}`];
});

/** A sentence that names the allowed combinations. */
export const allowedPrunings = `strategy is one of ${pruneStrategyNames.join(', ')}; compression is a whole number from 1${fixed.join('')}`;

/** Check a pruning request. Return it with its defaults, or return all errors. */
export function checkPruning(values: Readonly<Record<string, unknown>>): Checked<PruneRequest> {
  const { strategy } = values;
  if (isPruneStrategy(strategy)) return checkValues(schemaOf(strategy), values);
  // Without a valid strategy, check the other parameters with one that leaves them open.
  const checked = checkValues(schemaOf('magnitude_global'), { ...values, strategy: 'magnitude_global' });
  const fault = { name: 'strategy', message: `must be one of ${pruneStrategyNames.join(', ')}` };
  return { faults: [fault, ...('faults' in checked ? checked.faults : [])] };
}

const isPruneStrategy = (value: unknown): value is PruneStrategy =>
  pruneStrategyNames.some((strategy) => strategy === value);

/** Return the schemas of the strategy and parameters of a pruning, as stored and shown. */
export const prunedBy = () => ({
  strategy: z.enum(pruneStrategyNames),
  ...valueSchemasOf(pruneParameters),
});

/** Return the schemas of the strategy and parameters of a quantization, as stored and shown. */
export const quantizedBy = () => ({
  strategy: z.enum(quantizeStrategyNames),
  ...valueSchemasOf(quantizeParameters),
});

/** Return the schema of a stored request with every default filled in. */
export const storedRequest = () =>
  z.discriminatedUnion('operation', [
    z.object({ operation: z.literal('prune'), ...prunedBy() }),
    z.object({ operation: z.literal('quantize'), ...quantizedBy() }),
  ]);
