import { createHash } from 'node:crypto';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { InputStatistics } from '../../calibrate/statistics-file.ts';
import type { ProductWeight } from '../product-weights.ts';
import type { BlockFormat, Blocks, Matrix } from './block-quantize.ts';

/** Maximum bytes of blocks in memory: those of a model whose result a search makes again and again. */
const maxBytes = 2 ** 27;

/** Maximum number of factors, each as long as an input. */
const maxFactors = 1_000;

/**
 * Blocks and factors of weights that this process has computed. A search makes many results of one model, and each differs from an
 * earlier one in a few layers only. What determines them is the key, and no name: a weight may have been scaled.
 */
export class BlockMemory {
  readonly #blocks = new Map<string, Blocks>();
  readonly #factors = new Map<string, Float32Array | undefined>();
  #bytes = 0;

  /** Return the blocks of a weight by a method, for inputs of these statistics. Undefined if `compute` knows none. */
  blocks<B extends Blocks | undefined>(
    method: string,
    { values, ...layout }: Matrix,
    format: BlockFormat,
    observed: InputStatistics | undefined,
    compute: () => B,
  ): B | Blocks {
    const key = keyOf([method, layout, format], observed, [values]);
    const blocks = this.#blocks.get(key) ?? compute();
    if (blocks === undefined || this.#blocks.has(key)) return blocks;
    this.#blocks.set(key, blocks);
    this.#bytes += bytesOf(blocks);
    for (const [oldest, kept] of this.#blocks) {
      if (this.#bytes <= maxBytes) break;
      this.#blocks.delete(oldest);
      this.#bytes -= bytesOf(kept);
    }
    return blocks;
  }

  /** Return the factors of an input of these products; undefined if `compute` finds none that are better. */
  factors(
    products: readonly ProductWeight[],
    observed: InputStatistics,
    format: BlockFormat,
    compute: () => Float32Array | undefined,
  ): Float32Array | undefined {
    const layout = products.map(({ tensor: { dims }, inputAxis }) => [dims, inputAxis]);
    const weights = products.map(({ tensor }) => floatsOf(tensor));
    const key = keyOf([layout, format], observed, weights);
    if (!this.#factors.has(key)) this.#factors.set(key, compute());
    const [oldest = ''] = this.#factors.keys();
    if (this.#factors.size > maxFactors) this.#factors.delete(oldest);
    return this.#factors.get(key);
  }
}

const bytesOf = ({ packed, scales, zeroPoints }: Blocks): number =>
  packed.byteLength + scales.byteLength + (zeroPoints?.byteLength ?? 0);

/** The means and extremes of an input stand for all its statistics: they are sums and values of all its rows. */
function keyOf(
  parts: readonly unknown[],
  observed: InputStatistics | undefined,
  weights: readonly Float32Array[],
): string {
  const hash = createHash('sha256').update(JSON.stringify([parts, observed?.rows ?? null]));
  for (const { buffer, byteOffset, byteLength } of [
    ...weights,
    ...(observed === undefined ? [] : [observed.mean, observed.largest]),
  ])
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest('hex');
}
