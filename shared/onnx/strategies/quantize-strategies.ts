import { commonParameters, searchParameters } from './common-parameters.ts';
import type { Parameters } from './parameter.ts';
import { namesOf, type StrategyFacts, type UsingStatistics } from './strategy-facts.ts';
import { targetNames } from './target.ts';

const signs = ['int8', 'uint8'] as const;

const staticFacts = {
  isCalibrated: true,
  // First opset with QuantizeLinear.
  minOpset: 10,
  combinations: [
    {
      precision: 8,
      // ONNX Runtime's CPU kernels fuse uint8 activations in cases in which int8 ones stay unfused. On x64, uint8
      // is much faster.
      quantTypes: ['uint8', 'int8'],
      perChannel: true,
      reduceRange: true,
      leafNode: true,
      smooths: true,
      equalizes: true,
      inputsOnly: true,
    },
  ],
} as const;

const blocks = [
  {
    precision: 4,
    quantTypes: ['int4', 'uint4'],
    leafNode: true,
    inBlocks: true,
    mixes: true,
    note: 'int4 is symmetric, uint4 asymmetric; leaf_node has no effect.',
  },
  {
    precision: 8,
    quantTypes: signs,
    leafNode: true,
    inBlocks: true,
    note: 'int8 is symmetric, uint8 asymmetric; leaf_node has no effect.',
  },
] as const;

/** Quantization strategies by the name in requests. */
export const quantizeStrategies = {
  dynamic: {
    description:
      'Weights of MatMul, Gemm, LSTM and Attention and tables of Gather in quant_type; activations are quantized while the model runs. leaf_node has no effect.',
    // First opset with DynamicQuantizeLinear.
    minOpset: 11,
    combinations: [
      {
        precision: 8,
        quantTypes: signs,
        // The integer kernels accept a scale for each column. This is more accurate and as fast.
        perChannel: true,
        reduceRange: true,
        leafNode: true,
        smooths: true,
        equalizes: true,
        include: ['Conv'],
      },
    ],
  },
  static_minmax: {
    ...staticFacts,
    description:
      'Weights and activations with QDQ; the range of an activation covers all calibration values.',
  },
  static_percentile: {
    ...staticFacts,
    description:
      'Weights and activations with QDQ; the range of an activation excludes 0.001 % of its values.',
  },
  static_entropy: {
    ...staticFacts,
    description: 'Weights and activations with QDQ; the range of an activation loses the least information.',
  },
  static_mse: {
    ...staticFacts,
    description: 'Weights and activations with QDQ; the range of an activation has the least squared error.',
  },
  weight_only: {
    description:
      'Weights in blocks of block_size (32), each rounded to the nearest level; the largest weight sets the scale.',
    combinations: blocks,
  },
  weight_only_mse: {
    description:
      'Weights in blocks as in weight_only, with the scales of least squared error; needs no data.',
    combinations: blocks,
  },
  awq: {
    description:
      'Weights in blocks as in weight_only_mse, with the channels of inputs scaled to change the products with the calibration set least.',
    usesStatistics: true,
    combinations: blocks,
  },
  gptq: {
    description:
      'Inputs scaled as in awq, and weights in blocks chosen to change the products with the calibration set least.',
    usesStatistics: true,
    combinations: blocks,
  },
  auto: {
    description:
      'The smallest or fastest result of all strategies that loses at most max_loss, including mixed precision; every candidate is measured.',
    combinations: [
      { precision: 4, quantTypes: ['int8'], searches: true },
      { precision: 8, quantTypes: ['int8'], searches: true },
    ],
  },
  float16: {
    description:
      'Weights and activations in half precision: half the file size; faster only on a GPU or ARM.',
    combinations: [{ precision: 16, quantTypes: ['float16'] }],
  },
} as const satisfies Readonly<Record<string, QuantizeFacts>>;

interface QuantizeFacts extends StrategyFacts {
  combinations: readonly [Combination, ...Combination[]];
}

export type QuantType = (typeof quantTypes)[number];

/** A combination of parameter values that a strategy allows. */
export interface Combination {
  precision: number;
  /** Allowed types. The first one is the default. */
  quantTypes: readonly [QuantType, ...QuantType[]];
  /** Default of `per_channel`. Undefined if the strategy does not accept it. */
  perChannel?: boolean;
  /** Whether `reduce_range` may be true. */
  reduceRange?: boolean;
  /** Whether `leaf_node` may be true, even if it has no effect. */
  leafNode?: boolean;
  /** Whether `smooth_alpha` and `bias_correction` may be given. */
  smooths?: boolean;
  /** Whether `equalize` may be true. */
  equalizes?: boolean;
  /** Whether `inputs_only` may be true. */
  inputsOnly?: boolean;
  /** Operators that are quantized only if the request includes them. */
  include?: readonly string[];
  /** Whether weights are stored in blocks, and `block_size` may be given. */
  inBlocks?: boolean;
  /** Whether `mean_bits` may be given. */
  mixes?: boolean;
  /** Whether the strategy searches, guided by `max_loss` and `goal`. */
  searches?: boolean;
  /** Text that follows the strategy's description. */
  note?: string;
}

/** Types of quantized values. */
export const quantTypes = ['int8', 'uint8', 'int4', 'uint4', 'float16'] as const;

/** Parameters of quantizations. */
export const quantizeParameters = {
  precision: {
    kind: 'integer',
    description: 'Bits of a weight; with auto, the minimum:',
    usage: '`8`; also `4` with blocks; `16` with float16.',
    bounds: [1, 64],
    isRequired: true,
  },
  quant_type: {
    kind: 'text',
    description: 'Type of the weights; with a static strategy, type of the activations.',
    usage: 'Such as `uint8`. Default: that of the strategy.',
    values: quantTypes,
  },
  leaf_node: {
    kind: 'boolean',
    description: 'Quantize only operators with their own constant weight.',
    usage: '`true` or `false`.',
    otherwise: false,
  },
  include: {
    kind: 'names',
    description: 'Types of operators that are quantized only on request: Conv with dynamic.',
    usage: 'Separated by commas, such as `Conv`.',
  },
  per_channel: {
    kind: 'boolean',
    description: 'Use a scale for each output channel of a weight.',
    usage: '`true` or `false`. Default: that of the strategy.',
  },
  reduce_range: {
    kind: 'boolean',
    description: 'Use weights of 7 bits, for processors whose 8-bit products saturate.',
    usage: '`true` or `false`.',
  },
  for: {
    kind: 'text',
    description:
      'Target processor of the result: sets quant_type and reduce_range unless they are given. x86-64-v2 and avx2: uint8 activations, int8 weights of 7 bits; avx512-vnni: of 8 bits; arm64-dotprod: int8 activations. A machine stands for its processor.',
    usage: 'Such as `avx2` or `lambda`. Default: `any`, which sets nothing.',
    values: targetNames,
    otherwise: 'any',
    before: 'any',
  },
  smooth_alpha: {
    kind: 'positive',
    description:
      'SmoothQuant: share, from 0 to 1, of the magnitude of each activation channel to move into the weights.',
    usage:
      'A number, such as `0.5`. Default: 0.7 with dynamic for a transformer with a calibration set, otherwise none. Needs a calibration set.',
    before: null,
  },
  equalize: {
    kind: 'boolean',
    description:
      'Cross-layer equalization: channels between two layers get ranges of the same size, without data.',
    usage: '`true` or `false`.',
    otherwise: false,
    before: false,
  },
  bias_correction: {
    kind: 'boolean',
    description: 'Correct biases by the mean error of the quantized weights. Needs a calibration set.',
    usage: '`true` or `false`.',
    otherwise: false,
    before: false,
  },
  inputs_only: {
    kind: 'boolean',
    description:
      'Quantize only the inputs of MatMul and Gemm, each with its own range; their outputs and all operators between stay float.',
    usage: '`true` or `false`.',
    otherwise: false,
    before: false,
  },
  block_size: {
    kind: 'positive',
    description: 'Weights per block. Each block has a scale: smaller blocks lose less and take more bytes.',
    usage: '`16`, `32`, `64`, `128` or `256`. Default: 32 with blocks.',
    before: null,
  },
  mean_bits: {
    kind: 'positive',
    description:
      'With blocks of 4 bits: mean bits of a weight. As far as it allows, the layers that lose the most on the set are stored in 8 bits.',
    usage: 'A number from 4 to 8, such as `4.5`.',
    before: null,
  },
  ...searchParameters,
  ...commonParameters(
    'The relative L2 error of an output; layers are excluded by measured sensitivity until it holds.',
  ),
} as const satisfies Parameters;

export type QuantizeStrategy = keyof typeof quantizeStrategies;

export const quantizeStrategyNames = namesOf(quantizeStrategies);

/**
 * Return the precision that a command uses by default: the only precision of a strategy, or the lowest one of
 * `auto`. Requests always name their precision.
 */
export function usualPrecision(strategy: string): number | undefined {
  const name = quantizeStrategyNames.find((quantizeStrategyName) => quantizeStrategyName === strategy);
  if (name === undefined) return undefined;
  const { combinations } = quantizeFacts(name);
  const precisions = [...new Set(combinations.map(({ precision }) => precision))];
  return precisions.length === 1 || combinations[0].searches ? Math.min(...precisions) : undefined;
}

/** Return the facts of a strategy. */
export const quantizeFacts = (strategy: QuantizeStrategy): QuantizeFacts => quantizeStrategies[strategy];

/** Quantization strategies that need the ranges of activations. */
export type CalibratedStrategy = {
  [S in QuantizeStrategy]: (typeof quantizeStrategies)[S] extends { isCalibrated: true } ? S : never;
}[QuantizeStrategy];

/** Quantization strategies that use statistics of the inputs of layers, whatever their parameters. */
export type QuantizationByStatistics = UsingStatistics<typeof quantizeStrategies>;
