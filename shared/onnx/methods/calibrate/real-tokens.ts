import { isFloatType } from '../../measure/session/feed-type.ts';
import { tensorNumbers } from '../../measure/session/session.ts';
import type { Sample } from '../../measure/session/set-samples.ts';

/** Rows of a value to count: 1 for those rows, 0 for the others. */
export type CountedRows = ArrayLike<number>;

/** The real tokens of one sample. */
export interface RealTokens {
  /**
   * Return the rows of a value with this shape that are real tokens. Undefined if its rows are not tokens. All
   * rows count then.
   */
  rowsOf(dims: readonly number[]): CountedRows | undefined;
}

/**
 * Name of the input that tells encoders which tokens are real (1) and which are padding (0), as in Hugging Face
 * transformers.
 */
export const maskName = 'attention_mask';

/**
 * Return the real tokens of a sample with padding. Undefined if its mask does not consist of the integers 0 and 1
 * for [batch, sequence], or if it masks nothing or everything. Float masks are usually added to scores, where 0
 * means the opposite.
 */
export function realTokens({ feeds }: Sample): RealTokens | undefined {
  const mask = feeds.get(maskName);
  if (mask === undefined || mask.type === 'string') return undefined;
  if (isFloatType(mask.type) || mask.dims.length !== 2) return undefined;
  const { dims: shape } = mask;
  const rows = Array.from(tensorNumbers(mask));
  if (!rows.every((row) => row === 0 || row === 1) || new Set(rows).size !== 2) return undefined;
  return {
    rowsOf(dims) {
      const tokens = dims.slice(0, -1);
      const isBySequence = tokens.length === 2 && tokens.every((dim, at) => dim === shape[at]);
      const isFlat = tokens.length === 1 && tokens[0] === rows.length;
      return isBySequence || isFlat ? rows : undefined;
    },
  };
}
