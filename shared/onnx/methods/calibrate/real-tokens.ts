import { isFloatType } from '../../measure/session/feed-type.ts';
import { tensorNumbers } from '../../measure/session/session.ts';
import type { Sample } from '../../measure/session/set-samples.ts';

/** Which rows of a value are counted: 1 for those, 0 for the others. */
export type CountedRows = ArrayLike<number>;

/** The real tokens of one sample. */
export interface RealTokens {
  /** The rows of a value of this shape that are real tokens; undefined where its rows are no tokens: all are counted then. */
  rowsOf(dims: readonly number[]): CountedRows | undefined;
}

/** The input that tells encoders which tokens are real (1) and which only fill up a batch (0), as transformers names it. */
export const maskName = 'attention_mask';

/**
 * The real tokens of a sample with padding. Undefined where its mask is none of whole numbers 0 and 1 for [batch, sequence], or
 * leaves nothing out, or everything: masks of floats are usually added to scores, and mean the contrary by 0.
 */
export function realTokens({ feeds }: Sample): RealTokens | undefined {
  const mask = feeds.get(maskName);
  if (mask === undefined || isFloatType(mask.type) || mask.dims.length !== 2) return undefined;
  const { dims: shape } = mask;
  const rows = Array.from(tensorNumbers(mask));
  if (!rows.every((one) => one === 0 || one === 1) || new Set(rows).size !== 2) return undefined;
  return {
    rowsOf(dims) {
      const tokens = dims.slice(0, -1);
      const isBySequence = tokens.length === 2 && tokens.every((dim, at) => dim === shape[at]);
      const isFlat = tokens.length === 1 && tokens[0] === rows.length;
      return isBySequence || isFlat ? rows : undefined;
    },
  };
}
