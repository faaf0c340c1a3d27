import { floatAttribute, hasAttribute, tensorAttribute } from '../../../model/graph/attributes.ts';
import { kernels, partsOf, place } from '../../../model/kernels/kernels.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { type ByteSource, ExternalData, sourceOf } from '../../../model/tensor/external-data.ts';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { float32Source, floatsOf } from '../../../model/tensor/values.ts';
import type { CalibrationRanges } from '../../calibrate/ranges.ts';

/**
 * Half precision has no finite number above `mostHalf`. Numbers below `minHalf` become zero or keep hardly a
 * digit.
 */
const mostHalf = 65504;
const minHalf = 1e-7;
/** Smallest divisor: 1 divided by a smaller number exceeds half precision. */
const minDivisor = 1 / mostHalf;
/** Smallest variance with a relative error below 1 % in half precision, whose smallest step is 6e-8. */
const minVariance = 3e-6;
/** Smallest number that half precision stores with all its digits. */
const minNormal = 2 ** -14;
/** Numbers from this magnitude on stand for infinity, as in masks. */
const minMarker = 1e8;
/**
 * Maximum values of a constant that is checked. Larger ones are weights, and a few of their values may round to
 * zero.
 */
const maxValues = 2 ** 20;

/**
 * Operators that add many terms. A term that rounds to zero hardly changes the sum, and weights should be halves.
 * Numbers beyond half precision must still reach these operators in float32.
 */
const products = new Set([
  ...['MatMul', 'Gemm', 'Conv', 'ConvTranspose', 'Einsum', 'LSTM', 'GRU', 'RNN', 'Attention'],
  ...[
    'BatchNormalization',
    'LayerNormalization',
    'InstanceNormalization',
    'GroupNormalization',
    'RMSNormalization',
  ],
  ...['SkipLayerNormalization', 'EmbedLayerNormalization', 'MultiHeadAttention', 'FusedMatMul', 'FusedConv'],
  ...['Softmax', 'LogSoftmax'],
]);
/** Operators whose result has a normal magnitude for any input. */
const levelling = new Set([
  'Log',
  'Exp',
  'Sigmoid',
  'Tanh',
  'Softplus',
  'Cos',
  'Sin',
  'Erf',
  'HardSigmoid',
  'Atan',
]);
/** Operators in which a very large number usually stands for infinity. */
const masking = new Set(['Where', 'Add', 'Sub', 'Mul', 'Max', 'Min', 'Clip', 'Pad']);

/** Products of a value and a weight. The weight is the second input; in a MatMul it may be the first. */
const weighted = new Set(['MatMul', 'Gemm', 'Conv', 'ConvTranspose', 'FusedMatMul', 'FusedConv']);

/**
 * How a value may leave half precision. `tiny`: it may be close to zero. `small`: it may be so small that 1
 * divided by it is beyond half precision. `huge`: it may be beyond half precision itself. `faint`: all its numbers
 * may be so small that few digits are left.
 */
type Reach = 'tiny' | 'small' | 'huge' | 'faint';

interface Sizes {
  /** Largest and smallest magnitude of the finite numbers other than zero. */
  most: number;
  least: number;
}

function sizesOf(source: ByteSource): Sizes | undefined {
  const { floats, magnitudes } = kernels();
  const at = place.first / 4;
  floats.set([0, Number.POSITIVE_INFINITY], at);
  for (const { padded } of partsOf(source)) magnitudes(place.values, padded, place.first);
  const [most = 0, least = 0] = floats.subarray(at, at + 2);
  return most === 0 ? undefined : { most, least };
}

/** Whether half precision stores none of the values with all its digits, and one is not zero. */
function areFaint(source: ByteSource): boolean {
  let isZero = true;
  for (const { end } of partsOf(source)) {
    const values = kernels().floats.subarray(place.values / 4, end / 4);
    // Usually the first value disproves this.
    if (values.some((value) => !(Math.abs(value) < minNormal))) return false;
    isZero &&= values.every((value) => value === 0);
  }
  return !isZero;
}

/** Return how a constant leaves half precision. Undefined if half precision has its numbers. */
function reachOf({ most, least }: Sizes, isDivisor: boolean): Reach | undefined {
  if (most > mostHalf) return 'huge';
  if (most < minHalf || (isDivisor && least < minHalf)) return 'tiny';
  return most < minDivisor ? 'small' : undefined;
}

/**
 * Tracks the numbers of a graph that half precision does not have: constants that keep a value away from zero, and
 * the results of dividing by them. Call `reason` for nodes in graph order.
 */
export class HalfGuards {
  readonly #constant: (name: string) => Tensor | undefined;
  readonly #ranges: CalibrationRanges;
  readonly #reach = new Map<string, Reach>();
  readonly #known = new Map<string, Sizes | undefined>();
  readonly #faint = new Map<string, boolean>();

  /** @param ranges observed ranges of values, if any */
  constructor(constant: (name: string) => Tensor | undefined, ranges: CalibrationRanges = new Map()) {
    this.#constant = constant;
    this.#ranges = ranges;
  }

  #sizes(name: string): Sizes | undefined {
    const tensor = this.#constant(name);
    if (tensor === undefined || (tensor.type !== 'float' && tensor.type !== 'double')) return undefined;
    if (elementCount(tensor.dims) > maxValues) return undefined;
    if (!this.#known.has(name)) this.#known.set(name, sizesOf(float32Source(tensor)));
    return this.#known.get(name);
  }

  /** Whether half precision stores no number of a weight with all its digits. */
  #isFaint(name: string): boolean {
    const known = this.#faint.get(name);
    if (known !== undefined) return known;
    const tensor = this.#constant(name);
    const isFaint = tensor?.type === 'float' && areFaint(tensor.source());
    this.#faint.set(name, isFaint);
    return isFaint;
  }

  #isConstant(name: string): boolean {
    return name !== '' && this.#constant(name) !== undefined;
  }

  /**
   * Return the reach of a node's result if an input is faint. Undefined if the result has a normal magnitude
   * again.
   */
  #madeOfFaint({ opType, input }: NodeProto, reaches: readonly (Reach | undefined)[]): Reach | undefined {
    const [first = '', second = '', bias = ''] = input;
    if (weighted.has(opType)) return this.#isConstant(bias) && !this.#isFaint(bias) ? undefined : 'faint';
    if (products.has(opType) || levelling.has(opType)) return undefined;
    if (opType === 'Reciprocal') return 'huge';
    const isByFaint = reaches[1] === 'faint';
    if (opType === 'Div' && isByFaint) return reaches[0] === 'faint' ? undefined : 'huge';
    if (opType === 'Add' || opType === 'Sub')
      return [first, second].some((name, at) => reaches[at] !== 'faint' && !this.#isFaint(name))
        ? undefined
        : 'faint';
    const factor = this.#sizes(isByFaint ? first : second)?.most ?? 1;
    if (opType === 'Mul' && factor >= 1 / minNormal) return undefined;
    if (opType === 'Div' && factor <= minNormal) return undefined;
    return 'faint';
  }

  /** Whether a constant stands for infinity in a node. A large finite number then serves as well. */
  isMarker(name: string, node: NodeProto): boolean {
    const sizes = this.#sizes(name);
    return sizes !== undefined && sizes.most >= minMarker && masking.has(node.opType);
  }

  #ofConstant(name: string, position: number, node: NodeProto): Reach | undefined {
    const sizes = this.#sizes(name);
    if (sizes === undefined || this.isMarker(name, node)) return undefined;
    return reachOf(sizes, node.opType === 'Div' && position === 1);
  }

  /**
   * Return whether half precision lacks values of a product's parameter: one above its range, or a variance so
   * small, epsilon included, that too few of its digits are left.
   */
  #ofParameter(name: string, position: number, node: NodeProto): Reach | undefined {
    const sizes = this.#sizes(name);
    if (sizes === undefined) return undefined;
    if (sizes.most > mostHalf) return 'huge';
    const isVariance = node.opType === 'BatchNormalization' && position === 4;
    return isVariance && sizes.least + floatAttribute(node, 'epsilon', 1e-5) < minVariance
      ? 'huge'
      : undefined;
  }

  /** Return how the numbers in a node's attributes may leave half precision. */
  #ofAttributes(node: NodeProto): Reach | undefined {
    if (node.opType === 'Clip' && hasAttribute(node, 'min')) {
      const sizes = sizesOf(sourceOf(new Float32Array([floatAttribute(node, 'min', 0)])));
      const reach = sizes && reachOf(sizes, true);
      return reach === 'huge' ? undefined : reach;
    }
    if (node.opType !== 'ConstantOfShape') return undefined;
    const value = tensorAttribute(node, 'value', new ExternalData('.'));
    const sizes =
      value && (value.type === 'float' || value.type === 'double') && sizesOf(float32Source(value));
    return sizes ? reachOf(sizes, true) : undefined;
  }

  /** Whether calibration saw a value beyond half precision. */
  #wasBeyond = (name: string): boolean => {
    const range = this.#ranges.get(name);
    return range !== undefined && Math.max(-range.min, range.max) > mostHalf;
  };

  /**
   * Return the reason why a node's numbers keep it in float32. Undefined if it can be converted. Record the reach
   * of its result.
   */
  reason(node: NodeProto): string | undefined {
    const own = this.#reason(node);
    return own ?? ([...node.input, ...node.output].some(this.#wasBeyond) ? seenBeyond : undefined);
  }

  #reason(node: NodeProto): string | undefined {
    const isProduct = products.has(node.opType);
    const reaches = node.input.map((name, at) => {
      if (name === '') return undefined;
      const reach =
        isProduct && at > 0 ? this.#ofParameter(name, at, node) : this.#ofConstant(name, at, node);
      return reach ?? this.#reach.get(name);
    });
    const fromAttributes = this.#ofAttributes(node);
    let isOfFaint = false;
    if (weighted.has(node.opType)) {
      for (const [at, name] of node.input.slice(0, 2).entries()) {
        if ((at === 0 && node.opType !== 'MatMul') || !this.#isFaint(name)) continue;
        reaches[at] = 'faint';
        isOfFaint = true;
      }
    }
    const all = [...reaches, fromAttributes].filter((one) => one !== undefined);
    if (all.length === 0) return undefined;
    const made = this.#made(node, reaches, fromAttributes);
    if (made !== undefined) for (const name of node.output) if (name !== '') this.#reach.set(name, made);
    if (all.includes('huge') || (!isProduct && made === 'huge')) return beyond;
    if (all.includes('faint')) return isOfFaint ? fewDigits : faint;
    if (isProduct) return undefined;
    return all.includes('tiny') ? vanishing : undefined;
  }

  /** Return how the result of a node may leave half precision. Undefined if it does not. */
  #made(
    node: NodeProto,
    reaches: readonly (Reach | undefined)[],
    fromAttributes: Reach | undefined,
  ): Reach | undefined {
    const { opType, input } = node;
    if (reaches.includes('faint')) return this.#madeOfFaint(node, reaches);
    if (products.has(opType) || levelling.has(opType)) return undefined;
    const [first, second] = reaches;
    const isFree = (at: number): boolean =>
      reaches[at] === undefined && (input[at] ?? '') !== '' && this.#constant(input[at] ?? '') === undefined;
    if (opType === 'Reciprocal') return first === 'huge' ? 'tiny' : 'huge';
    if (opType === 'Div' && second !== undefined) {
      // A guard matters only if it is small. Its dividend is then as small as the guard.
      if (isFree(0)) return undefined;
      return second === 'huge' ? undefined : 'huge';
    }
    if (opType === 'Pow') {
      const exponent = this.#exponent(input[1] ?? '');
      if (first !== undefined && exponent !== undefined && exponent < 0)
        return first === 'huge' ? 'tiny' : 'huge';
    }
    if (opType === 'Sqrt' && first === 'small') return undefined;
    const isSum = opType === 'Add' || opType === 'Sub';
    const reach = (['huge', 'tiny', 'small'] as const).find(
      (one) => reaches.includes(one) || fromAttributes === one,
    );
    const isWithFree = isFree(0) || isFree(1);
    const isValue = reaches.some(
      (one, at) => one !== undefined && this.#constant(input[at] ?? '') === undefined,
    );
    // A small guarded value is lost in a sum with another value. A huge value results from dividing by a guard.
    // Multiplying it with another value gives a normal number again.
    if (isValue && isWithFree && ((isSum && reach !== 'huge') || (opType === 'Mul' && reach === 'huge')))
      return undefined;
    return reach;
  }

  #exponent(name: string): number | undefined {
    const tensor = this.#constant(name);
    return tensor !== undefined && elementCount(tensor.dims) === 1 ? floatsOf(tensor)[0] : undefined;
  }
}

const vanishing = 'its numbers would become zero in half precision';
const fewDigits = 'its weights are so small that half precision keeps few of their digits';
const faint = 'its numbers are so small that half precision keeps few of their digits';
const seenBeyond = 'calibration observed a value of it beyond half precision (65504)';
const beyond = 'its inputs or outputs are beyond half precision';
