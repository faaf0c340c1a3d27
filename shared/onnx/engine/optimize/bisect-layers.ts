import { ModelError } from '../../model/model-error.ts';
import { SearchTime } from '../auto/search-time.ts';
import { runTrial, type Trial, type TrialContext, worstError } from './run-trial.ts';

/** A search for the fewest layers that need another treatment to meet an error bound. */
interface Search {
  max_error: number;
  /** Number of candidate layers. */
  of: number;
  /** Return the trial that treats the first `count` layers differently. */
  choose(count: number): Pick<Trial, 'excluded' | 'floatInputs'>;
  /** The trial with all layers, if it is known to meet the bound. */
  all?: Trial;
  /** Describe a trial. The log line continues with its error. */
  said(count: number): string;
}

export interface Fewest {
  count: number;
  final: Trial;
}

/**
 * Find the smallest number of first layers that meets `max_error`, assuming that more layers never make the error
 * worse. Double the number until one suffices, then bisect. The folder of the result then holds the found trial.
 * At the end of the time the smallest number so far is the result, at first the largest. Return undefined if no
 * number below `of` suffices and `all` is not given.
 */
export async function bisectLayers(context: TrialContext, search: Search): Promise<Fewest | undefined> {
  const { max_error, of } = search;
  let [tooFew, enough] = [0, of];
  let final = search.all;
  let last: Trial | undefined;
  const { time } = context;
  while (enough - tooFew > 1) {
    // After the next trial, that of the result may have to be made again.
    const isShort = !time.hasRoomFor(3);
    if (isShort && final !== undefined) {
      time.untried.push('to change more layers');
      break;
    }
    const doubled = isShort ? enough - 1 : Math.min(Math.max(tooFew * 2, 1), enough - 1);
    const count = final === undefined ? doubled : (tooFew + enough) >> 1;
    try {
      last = await time.measured(() => runTrial(context, search.choose(count)));
    } catch (error) {
      // The end of the time ends a stage, and not the search.
      if (!(error instanceof ModelError) || !time.isOver || final === undefined) throw error;
      last = undefined;
      continue;
    }
    const { error } = worstError(last.compare);
    context.optimization.say(`${search.said(count)} the largest error is ${errorText(error)}.`);
    if (error <= max_error) [enough, final] = [count, last];
    else tooFew = count;
  }
  if (final === undefined) return undefined;
  if (last === final) return { count: enough, final };
  return { count: enough, final: await runTrial({ ...context, time: new SearchTime() }, final) };
}

/** Format an error with three significant digits, or as `infinite`. */
export const errorText = (error: number): string =>
  Number.isFinite(error) ? String(Number(error.toPrecision(3))) : 'infinite';
