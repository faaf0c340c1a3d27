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

/** A pruning to be done, with every default filled in. */
export type PruneRequest = { operation: 'prune'; strategy: PruneStrategy } & ValuesOf<typeof pruneParameters>;

/**
 * The schema of each pruning: what requests are checked by and what is published. They are created on first use, not
 * on import.
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

/** The only value that there is; a request that leaves it out means it where it is the default. */
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

/** The allowed combinations, in a sentence. */
export const allowedPrunings = `strategy is one of ${pruneStrategyNames.join(', ')}; compression is a whole number from 1${fixed.join('')}`;

/** Checks a request for a pruning. Returns it with its defaults, or all errors. */
export function checkPruning(values: Readonly<Record<string, unknown>>): Checked<PruneRequest> {
  const { strategy } = values;
  if (isPruneStrategy(strategy)) return checkValues(schemaOf(strategy), values);
  // The other parameters can be checked by any strategy that leaves them open.
  const checked = checkValues(schemaOf('magnitude_global'), { ...values, strategy: 'magnitude_global' });
  const fault = { name: 'strategy', message: `must be one of ${pruneStrategyNames.join(', ')}` };
  return { faults: [fault, ...('faults' in checked ? checked.faults : [])] };
}

const isPruneStrategy = (value: unknown): value is PruneStrategy =>
  pruneStrategyNames.some((strategy) => strategy === value);

/** The strategy and parameters of a request for a pruning, as they are stored and shown. */
export const prunedBy = () => ({
  strategy: z.enum(pruneStrategyNames),
  ...valueSchemasOf(pruneParameters),
});

/** The same of a quantization. */
export const quantizedBy = () => ({
  strategy: z.enum(quantizeStrategyNames),
  ...valueSchemasOf(quantizeParameters),
});

/** A request as its record keeps it, with every default filled in. */
export const storedRequest = () =>
  z.discriminatedUnion('operation', [
    z.object({ operation: z.literal('prune'), ...prunedBy() }),
    z.object({ operation: z.literal('quantize'), ...quantizedBy() }),
  ]);
