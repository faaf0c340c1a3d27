import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { incomparable } from '../../measure/verify/incomparable.ts';

type Compared = Pick<StageAnswer<'compare'>, 'outputs' | 'accuracy'>;

/** The largest relative error of an output; infinite where one cannot be compared because it is broken. */
export function worstError(compare: Pick<Compared, 'outputs'> | null): { name: string; error: number } {
  let worst = { name: '', error: 0 };
  for (const { name, relative_l2_error, why } of compare?.outputs ?? []) {
    const error = relative_l2_error ?? (why === incomparable.noTensor ? 0 : Number.POSITIVE_INFINITY);
    if (error >= worst.error) worst = { name, error };
  }
  return worst;
}

/** What a result has lost: accuracy, as a share of all labels, where it was measured; else the largest output error. */
export const lossOf = (compare: Compared): number =>
  compare.accuracy === null
    ? worstError(compare).error
    : Math.max(0, compare.accuracy.before - compare.accuracy.after);
