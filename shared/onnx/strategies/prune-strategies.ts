import { commonParameters, searchParameters } from './common-parameters.ts';
import type { Parameters } from './parameter.ts';
import { namesOf, type StrategyFacts, type UsingStatistics } from './strategy-facts.ts';

/** Pruning strategies by the name in requests. */
export const pruneStrategies = {
  magnitude_global: {
    description:
      'Zeroes the smallest weights of all tensors together; every output channel keeps at least one. Only the compressed file gets smaller.',
  },
  magnitude_local: {
    description: 'Zeroes the smallest weights of each tensor. Only the compressed file gets smaller.',
  },
  n_m_2_4: {
    description:
      'Keeps 2 of every 4 weights along the input channels; tensors with other sizes are unchanged. No gain on CPUs.',
    compression: 2,
  },
  sparsegpt: {
    description:
      "Zeroes weights of MatMul, Gemm and 1 x 1 Conv, and updates the remaining weights so that the layer's output on a calibration set changes as little as possible. Only the compressed file gets smaller.",
    usesStatistics: true,
  },
  sparsegpt_2_4: {
    description:
      'Keeps 2 of every 4 weights along the input channels, with the same update. No gain on CPUs.',
    compression: 2,
    usesStatistics: true,
  },
  structured_l1: {
    description:
      'Removes whole channels, neurons and attention heads by their L1 norm over coupled layers: smaller and faster.',
  },
  structured_l2: {
    description:
      'Removes whole channels, neurons and attention heads by their L2 norm over coupled layers: smaller and faster.',
  },
  structured_reconstruct: {
    description:
      'Removes whole channels, neurons and attention heads that the others predict best on a calibration set, and folds the prediction into the following layers.',
    usesStatistics: true,
    isAllocated: true,
  },
  optimize: {
    description:
      'Fuses the graph into fewer operators and computes its constants; prunes no weights, and outputs change only by rounding.',
    compression: 1,
  },
  auto: {
    description:
      'The smallest or fastest result of the structured strategies that loses at most max_loss; every candidate is measured.',
    compression: 1,
    searches: true,
  },
  random: {
    description: 'Removes whole channels, neurons and attention heads at random, as a baseline.',
  },
} as const satisfies Readonly<Record<string, PruneFacts>>;

interface PruneFacts extends StrategyFacts {
  /** The only compression that the strategy reaches. Undefined if it reaches any. */
  compression?: number;
  /** Whether the strategy can allocate removals to layers by sensitivity. */
  isAllocated?: boolean;
  /** Whether the strategy chooses among the other strategies. */
  searches?: boolean;
}

/** Parameters of prunings. */
export const pruneParameters = {
  compression: {
    kind: 'integer',
    description: '1/compression of the prunable weights is kept.',
    usage: 'A whole number, such as `2`, the only value for n_m_2_4.',
    // No model needs more. The pruning itself refuses a compression that a model cannot reach.
    bounds: [1, 1_000_000],
    otherwise: 1,
  },
  allocation: {
    kind: 'text',
    description:
      'Whether each layer loses the same share (`uniform`), or layers whose output needs their channels least lose most (`sensitivity`).',
    usage: 'For structured_reconstruct: `sensitivity` (default) or `uniform`.',
    values: ['uniform', 'sensitivity'],
    // Records of earlier releases have no allocation.
    before: 'uniform',
  },
  ...searchParameters,
  ...commonParameters('The relative L2 error of an output above which the request fails.'),
} as const satisfies Parameters;

export type PruneStrategy = keyof typeof pruneStrategies;

export const pruneStrategyNames = namesOf(pruneStrategies);

/** Return the facts of a strategy. */
export const pruneFacts = (strategy: PruneStrategy): PruneFacts => pruneStrategies[strategy];

/**
 * Whether a pruning would keep every weight. This is true for a compression of 1, the default, unless the strategy
 * fixes its own.
 */
export function keepsAll(strategy: string, compression: number): boolean {
  const name = pruneStrategyNames.find((pruneStrategyName) => pruneStrategyName === strategy);
  return name !== undefined && pruneFacts(name).compression === undefined && compression === 1;
}

/** Pruning strategies that use statistics of the inputs of layers. */
export type PruningByStatistics = UsingStatistics<typeof pruneStrategies>;
