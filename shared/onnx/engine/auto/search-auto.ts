import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import type { Trial } from '../optimize/run-trial.ts';
import { type AutoContext, CandidateTrials } from './candidate-trials.ts';
import { withFront } from './pareto-front.ts';
import { searchPrunings } from './search-prunings.ts';
import { searchQuantizations } from './search-quantizations.ts';

export interface AutoResult {
  final: Trial;
  tried: Receipt['candidates'];
  notes: string[];
  /** What the chosen method was calibrated on. */
  calibrated: StageAnswer<'calibrate'> | null;
  /** Its time, where speed was the goal. */
  times: StageAnswer<'time'> | null;
}

/**
 * Search for the smallest or fastest result within a loss, and leave it in the folder of the result.
 *
 * @throws ModelError naming the nearest candidate where none holds the target
 */
export async function searchAuto(context: AutoContext): Promise<AutoResult> {
  const trials = new CandidateTrials(context);
  const search = context.optimization.request.operation === 'prune' ? searchPrunings : searchQuantizations;
  await search(trials, context);
  const { best, tried, notes } = trials;
  if (best === undefined) throw trials.missed();
  const { trial: final, calibrated, candidate, times } = best;
  return { final, tried: withFront(tried, candidate.name), notes, calibrated, times };
}
