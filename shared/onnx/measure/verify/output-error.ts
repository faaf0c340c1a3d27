import type { Receipt } from '../../receipt/receipt.ts';
import { isFloatType } from '../session/feed-type.ts';
import { type FedTensor, type OtherValue, tensorNumbers } from '../session/session.ts';
import { incomparable } from './incomparable.ts';

type OutputError = Receipt['outputs'][number];
type Value = FedTensor | OtherValue | undefined;

/** Accumulates the difference of one output over all samples in double precision. */
export class OutputDifference {
  readonly name: string;
  #squaredError = 0;
  #squaredNorm = 0;
  #largest = 0;
  #values = 0;
  /** Pairs of finite numbers, which determine the error. */
  #compared = 0;
  /** Values that were finite before and are not finite now. */
  #spoilt = 0;
  /** Values that were NaN or infinite before and are something else now. */
  #altered = 0;
  #why: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  add(before: Value, after: Value): void {
    if (before === undefined || after === undefined || before.type === 'other' || after.type === 'other') {
      this.#why = incomparable.noTensor;
      return;
    }
    if (before.dims.join() !== after.dims.join()) {
      this.#why = `changed its shape from [${before.dims.join(', ')}] to [${after.dims.join(', ')}]`;
      return;
    }
    const [a, b] = [tensorNumbers(before), tensorNumbers(after)];
    for (let at = 0; at < a.length; at += 1) {
      const [was = 0, is = 0] = [a[at], b[at]];
      if (!Number.isFinite(was)) {
        if (!Object.is(was, is)) this.#altered += 1;
        continue;
      }
      if (!Number.isFinite(is)) {
        this.#spoilt += 1;
        continue;
      }
      this.#compared += 1;
      const difference = is - was;
      this.#squaredError += difference * difference;
      this.#squaredNorm += was * was;
      this.#largest = Math.max(this.#largest, Math.abs(difference));
    }
    this.#values += a.length;
    if (isFloatType(before.type) !== isFloatType(after.type))
      this.#why = `changed its type from ${before.type} to ${after.type}`;
  }

  /**
   * Whether these samples alone raise the error above `most`, given the output's squared norm over all samples.
   */
  exceeds(most: number, squaredNorm: number): boolean {
    if (this.#why !== undefined) return this.#why !== incomparable.noTensor;
    return this.#spoilt > 0 || !(this.#squaredError <= most * most * squaredNorm);
  }

  /**
   * A note on values that are not finite in the model. The error does not include them. Undefined if there are
   * none.
   */
  warning(): string | undefined {
    const said = `The output ${JSON.stringify(this.name)}`;
    const { noNumbers } = incomparable;
    const missing = this.#values - this.#compared - this.#spoilt;
    if (missing === 0) return undefined;
    const altered = this.#altered === 0 ? '' : `; ${this.#altered} of these differ in the result`;
    // If there are no finite pairs, the reason for the missing error covers the rest.
    if (this.#compared === 0) {
      return this.#altered === 0 ? undefined : `${said} ${noNumbers}${altered}.`;
    }
    return `${said} has ${missing} of ${this.#values} values that are NaN or infinite in the model itself; its error covers only the other values${altered}.`;
  }

  /** The result. Relative to an all-zero output, every difference is infinite. */
  result(): OutputError {
    const measured = { name: this.name, values: this.#values };
    const failed = (why: string) => ({ ...measured, relative_l2_error: null, largest_difference: null, why });
    if (this.#why !== undefined) return failed(this.#why);
    if (this.#spoilt > 0) return failed(`${this.#spoilt} ${incomparable.spoilt}`);
    if (this.#values === 0) return failed(incomparable.noValues);
    if (this.#compared === 0) return failed(incomparable.noNumbers);
    if (this.#squaredNorm === 0 && this.#squaredError > 0) {
      return {
        ...measured,
        relative_l2_error: null,
        largest_difference: this.#largest,
        why: 'was zero throughout',
      };
    }
    const error = this.#squaredNorm === 0 ? 0 : Math.sqrt(this.#squaredError / this.#squaredNorm);
    if (!Number.isFinite(error + this.#largest)) return failed('differs by more than a number can express');
    return { ...measured, relative_l2_error: error, largest_difference: this.#largest, why: null };
  }
}
