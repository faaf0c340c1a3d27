import { parseRequest } from '../../methods/apply/parse-request.ts';
import { paretoPoints } from '../../receipt/pareto-points.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import type { QuantizeRequest } from '../../strategies/quantize-request.ts';

/** A sequence of methods that `auto` tries. Each method works on the result of the previous one. */
export interface Candidate {
  name: string;
  steps: readonly OptimizationRequest[];
  /** Factor of a pruning, possibly a fraction. */
  compression?: number;
  /** Name of an earlier candidate whose file is no larger. */
  noSmallerThan?: string;
  /** Earlier candidates, and how many times the target they may lose: beyond that this one misses it, too, and so do its mixtures. */
  hopelessBeyond?: Readonly<Record<string, number>>;
}

/** Facts that determine the candidates. */
interface Choice {
  request: Pick<QuantizeRequest, 'precision' | 'seed' | 'for'>;
  hasCalibration: boolean;
  /** How often each operator occurs in the model. */
  operators: Readonly<Record<string, number>>;
}

/** Return the single methods that `auto` tries for a model. */
export function candidatesOf(choice: Choice): Candidate[] {
  const convs = choice.operators['Conv'] ?? 0;
  return methods
    .filter(({ isCalibrated }) => choice.hasCalibration || !isCalibrated)
    .filter(({ precision }) => Number(precision) >= choice.request.precision)
    .filter(({ hasConv }) => hasConv === undefined || hasConv === convs > 0)
    .map(({ name, isCalibrated: _, hasConv: __, noSmallerThan, hopelessBeyond, ...values }) => ({
      name,
      steps: [stepOf(values, choice.request)],
      ...(noSmallerThan !== undefined && { noSmallerThan }),
      ...(hopelessBeyond !== undefined && { hopelessBeyond }),
    }));
}

/** Every weight in blocks of 8 bits: what mixed precision is made of, beside its own method. */
export const eightBits = 'weight_only int8';

type Method = Values &
  Pick<Candidate, 'name' | 'noSmallerThan' | 'hopelessBeyond'> & { isCalibrated: boolean; hasConv?: boolean };

const longBlocks = 'gptq int4, block_size 128';
const shortBlocks = 'gptq int4';

/** Four bits otherwise: what loses half as much as gptq, or a tenth of what it loses with long blocks, was not seen. */
const likeGptq = { [longBlocks]: 10, [shortBlocks]: 2 };

/**
 * Methods with their requirements. Those of 8 bits without calibration come first, because they are quick and tell
 * what is worth trying; the others come by ascending size of their results.
 */
const methods: readonly Method[] = [
  { name: eightBits, isCalibrated: false, strategy: 'weight_only', precision: 8 },
  { name: 'dynamic', isCalibrated: false, strategy: 'dynamic', precision: 8 },
  {
    ...{ name: longBlocks, isCalibrated: true, strategy: 'gptq', precision: 4 },
    block_size: 128,
  },
  {
    ...{ name: shortBlocks, isCalibrated: true, strategy: 'gptq', precision: 4 },
    hopelessBeyond: { [longBlocks]: 10 },
  },
  ...[
    { name: 'awq int4', isCalibrated: true, strategy: 'awq', precision: 4 },
    { name: 'gptq uint4', isCalibrated: true, strategy: 'gptq', precision: 4, quant_type: 'uint4' },
    { name: 'weight_only_mse int4', isCalibrated: false, strategy: 'weight_only_mse', precision: 4 },
  ].map((method) => ({ ...method, hopelessBeyond: likeGptq })),
  ...[0.5, 0.7].map((smooth_alpha) => ({
    ...{ name: `dynamic, smooth_alpha ${smooth_alpha}`, isCalibrated: true },
    ...{ strategy: 'dynamic', precision: 8, smooth_alpha, noSmallerThan: 'dynamic' },
  })),
  {
    ...{ name: 'static_mse, inputs_only, smooth_alpha 0.7', isCalibrated: true, hasConv: false },
    ...{ strategy: 'static_mse', precision: 8, inputs_only: true, smooth_alpha: 0.7 },
    noSmallerThan: 'dynamic',
  },
  { name: 'static_minmax', isCalibrated: true, hasConv: true, strategy: 'static_minmax', precision: 8 },
  { name: 'static_mse', isCalibrated: true, hasConv: true, strategy: 'static_mse', precision: 8 },
  {
    ...{ name: 'float16', isCalibrated: false, strategy: 'float16', precision: 16 },
    noSmallerThan: eightBits,
  },
];

type Values = Readonly<Record<string, unknown>>;

/**
 * Complete the request of one step. @throws Error if the values are no valid method, which is a bug here and not
 * the caller's error
 */
function stepOf(values: Values, request: Pick<QuantizeRequest, 'seed' | 'for'>): QuantizeRequest {
  const step = parseRequest({ operation: 'quantize', seed: request.seed, for: request.for, ...values });
  if (step.operation !== 'quantize') throw new Error('a step of a quantization is none');
  return step;
}

/**
 * Build a mixed-precision candidate: its first step skips some layers, and their weights get 8-bit blocks instead.
 * A layer that does not support 8-bit blocks stays float.
 */
export function mixedWith({ name, steps }: Candidate, layers: readonly string[], of: number): Candidate {
  const [first] = steps;
  if (first?.operation !== 'quantize') throw new Error('a candidate has no step');
  return {
    name: `${name}, ${layers.length} of ${of} layers in 8-bit blocks`,
    steps: [
      { ...first, exclude: [...first.exclude, ...layers] },
      stepOf({ strategy: 'weight_only', precision: 8, exclude: first.exclude }, first),
    ],
  };
}

type Tried = Receipt['candidates'][number];

/** Mark the Pareto-optimal candidates in size and loss, and the chosen one. Sort by ascending size. */
export function withFront(tried: readonly Tried[], chosen: string): Tried[] {
  const front = paretoPoints(
    tried.flatMap(({ file_bytes, loss }) => (loss === null ? [] : [{ x: file_bytes, y: -loss }])),
  );
  return tried
    .map((one) => ({
      ...one,
      // Of equal candidates, the front has one point.
      is_on_front: front.some(({ x, y }) => one.loss !== null && x === one.file_bytes && y === -one.loss),
      is_chosen: one.name === chosen,
    }))
    .sort((a, b) => a.file_bytes - b.file_bytes);
}
