import { runTrial, type Trial, type TrialContext, worstError } from './run-trial.ts';

/** A search for the fewest layers that have to be treated otherwise. */
interface Search {
  max_error: number;
  /** How many layers there are to treat so. */
  of: number;
  /** The trial that treats the first so many of them otherwise. */
  choose(count: number): Pick<Trial, 'excluded' | 'floatInputs'>;
  /** The trial of all of them, where it is known to hold. */
  all?: Trial;
  /** What is said of a trial, before its error. */
  said(count: number): string;
}

export interface Fewest {
  count: number;
  final: Trial;
}

/**
 * Finds the fewest of the first layers that hold `max_error`, as though more of them were never worse: doubled until
 * one number suffices, then halved. The folder of the result holds what was found. Undefined where no number suffices
 * that is below all.
 */
export async function fewestThatHold(context: TrialContext, search: Search): Promise<Fewest | undefined> {
  const { max_error, of } = search;
  let [tooFew, enough] = [0, of];
  let final = search.all;
  let last: Trial | undefined;
  while (enough - tooFew > 1) {
    const count =
      final === undefined ? Math.min(Math.max(tooFew * 2, 1), enough - 1) : (tooFew + enough) >> 1;
    last = await runTrial(context, search.choose(count));
    const { error } = worstError(last.compare);
    context.optimization.say(`${search.said(count)} the largest error is ${errorText(error)}.`);
    if (error <= max_error) [enough, final] = [count, last];
    else tooFew = count;
  }
  if (final === undefined) return undefined;
  return { count: enough, final: last === final ? final : await runTrial(context, final) };
}

/** An error in a few digits, or that it is infinite. */
export const errorText = (error: number): string =>
  Number.isFinite(error) ? String(Number(error.toPrecision(3))) : 'infinite';
