import * as z from 'zod';
import { type Judged, judge } from './judge.ts';
import { meanings } from './meanings.ts';
import { exclude, maxError, seed } from './parameters.ts';
import { type PruneStrategy, pruneStrategies } from './strategies.ts';

/** Beyond any use; what is out of reach for a model is found out when it is pruned. */
export const compressionMost = 1_000_000;

const strategyMeanings: Readonly<Record<PruneStrategy, string>> = {
  magnitude_global:
    'Zeroes the smallest weights of all tensors together; every output channel keeps one. Only the compressed file gets smaller.',
  magnitude_local: 'Zeroes the smallest weights of each tensor. Only the compressed file gets smaller.',
  n_m_2_4:
    'Keeps 2 of every 4 weights along the input channels; tensors that cannot be divided so are kept. No gain on CPUs.',
  structured_l1:
    'Removes whole channels, neurons and attention heads by their L1 norm over coupled layers: smaller and faster.',
  structured_l2:
    'Removes whole channels, neurons and attention heads by their L2 norm over coupled layers: smaller and faster.',
  random: 'Removes whole channels, neurons and attention heads by chance: the baseline.',
};

function compressionOf(strategy: PruneStrategy) {
  if (strategy === 'n_m_2_4') return z.literal(2, 'must be 2 with n_m_2_4');
  const message = `must be a whole number from 1 to ${compressionMost}`;
  return z.int(message).min(1, message).max(compressionMost, message).default(1);
}

const methodOf = <S extends PruneStrategy>(strategy: S) =>
  z
    .strictObject({
      operation: z.literal('prune').default('prune'),
      strategy: z.literal(strategy),
      compression: compressionOf(strategy).describe(meanings.compression),
      exclude,
      seed,
      max_error: maxError(meanings.maxErrorOfPruning),
    })
    .describe(strategyMeanings[strategy]);

/**
 * Every pruning that can be asked for, one for each strategy: what requests are judged by and what is published. They
 * are made when they are asked for, and not by whoever only imports this.
 */
export const pruneMethods = () => pruneStrategies.map((strategy) => methodOf(strategy));

/** A pruning to be done, with every default filled in. */
export type PruneRequest = z.output<ReturnType<typeof methodOf>>;

/** The allowed combinations, in a sentence. */
export const allowedPruning = `strategy is one of ${pruneStrategies.join(', ')}; compression is a whole number from 1, and 2 with n_m_2_4`;

const isPruneStrategy = (value: unknown): value is PruneStrategy =>
  pruneStrategies.some((strategy) => strategy === value);

/** Judges a request for a pruning: the request with its defaults, or everything that is wrong with it. */
export function judgePruning(values: Readonly<Record<string, unknown>>): Judged<PruneRequest> {
  const { strategy } = values;
  if (isPruneStrategy(strategy)) return judge(methodOf(strategy), values);
  const judged = judge(methodOf('magnitude_global'), { ...values, strategy: 'magnitude_global' });
  const fault = { name: 'strategy', message: `must be one of ${pruneStrategies.join(', ')}` };
  return { faults: [fault, ...('faults' in judged ? judged.faults : [])] };
}
