import { pruneStrategyNames } from '../../../../shared/onnx/strategies/prune-strategies.ts';
import { quantizeSchemas } from '../../../../shared/onnx/strategies/quantize-request.ts';

/** One method as it is tried on every model. */
export interface Trial {
  name: string;
  request: Readonly<Record<string, unknown>>;
  /**
   * Largest relative L2 error of an output that is taken for right; undefined where the method promises none, as
   * pruning does. A mistake (a wrong axis, a swapped scale) gives about 1.
   */
  maxError: number | undefined;
}

const bounds: Readonly<Record<string, number>> = {
  dynamic: 0.2,
  static_minmax: 0.3,
  static_percentile: 0.3,
  static_entropy: 0.3,
  static_mse: 0.3,
  weight_only4: 0.4,
  weight_only8: 0.05,
  weight_only_mse4: 0.4,
  weight_only_mse8: 0.05,
  awq4: 0.4,
  awq8: 0.05,
  gptq4: 0.4,
  gptq8: 0.05,
  float16: 0.02,
  // It rewrites what computes the same, exact to rounding.
  optimize: 0.001,
};

const prunings: readonly Trial[] = pruneStrategyNames
  .filter((strategy) => strategy !== 'auto')
  .map((strategy) => ({
    name: `prune ${strategy}`,
    request: { operation: 'prune', strategy, compression: strategy === 'optimize' ? 1 : 2 },
    maxError: bounds[strategy],
  }));

/** Every published combination of strategy, precision and type. */
const quantizations: readonly Trial[] = quantizeSchemas().flatMap(({ shape }) => {
  const strategy = shape.strategy.value;
  // It is made of the others, and run by no single stage.
  if (strategy === 'auto') return [];
  const precision = shape.precision.value;
  return shape.quant_type.unwrap().options.map((quant_type) => ({
    name: `quantize ${strategy} ${quant_type}`,
    request: { operation: 'quantize', strategy, precision, quant_type },
    maxError: bounds[strategy] ?? bounds[`${strategy}${precision}`],
  }));
});

/** Choices beside the defaults that change what is written. */
const variants: readonly Trial[] = [
  {
    name: 'quantize dynamic, Conv included',
    request: { operation: 'quantize', strategy: 'dynamic', precision: 8, include: ['Conv'] },
    maxError: bounds['dynamic'],
  },
  {
    name: 'quantize dynamic, smoothed, equalized and corrected',
    request: {
      ...{ operation: 'quantize', strategy: 'dynamic', precision: 8 },
      ...{ smooth_alpha: 0.5, equalize: true, bias_correction: true },
    },
    maxError: bounds['dynamic'],
  },
  ...[16, 128].map((block_size) => ({
    name: `quantize awq, block_size ${block_size}`,
    request: { operation: 'quantize', strategy: 'awq', precision: 4, block_size },
    maxError: block_size === 16 ? bounds['awq4'] : undefined,
  })),
  {
    name: 'quantize static_mse, inputs_only',
    request: { operation: 'quantize', strategy: 'static_mse', precision: 8, inputs_only: true },
    maxError: bounds['static_mse'],
  },
  {
    name: 'quantize static_minmax, leaf_node',
    request: { operation: 'quantize', strategy: 'static_minmax', precision: 8, leaf_node: true },
    maxError: bounds['static_minmax'],
  },
];

export const trials: readonly Trial[] = [...prunings, ...quantizations, ...variants];
