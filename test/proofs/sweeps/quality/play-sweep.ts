import { judge, type Stopping } from '../../../../shared/sweeps/early-stopping.ts';
import { reachedRungs } from '../../../../shared/sweeps/rungs.ts';
import { type Search, suggest } from '../../../../shared/sweeps/suggest.ts';
import type { RungReport, TrialResult } from '../../../../shared/sweeps/types.ts';
import type { Task } from './tasks.ts';

/** What a sweep found, and what it took. */
export interface Outcome {
  best: number;
  epochs: number;
  trials: number;
}

/**
 * Play a sweep on a task, one trial after the other, as the service would run it.
 * @param limit ends the sweep at so many trials or, with `epochs`, before the trial that would begin after so many
 */
export function playSweep(
  task: Task,
  { method, seed, stop }: Pick<Search, 'method' | 'seed'> & Pick<Stopping, 'stop'>,
  limit: { trials?: number; epochs?: number },
): Outcome {
  const search: Search = { method, seed, parameters: task.parameters, start: [], goal: 'minimize' };
  const stopping: Stopping = { stop, metric: 'loss', goal: 'minimize' };
  const results: TrialResult[] = [];
  const reports: RungReport[] = [];
  let epochs = 0;
  while (
    results.length < (limit.trials ?? Number.POSITIVE_INFINITY) &&
    epochs < (limit.epochs ?? Number.POSITIVE_INFINITY)
  ) {
    const trial = results.length;
    const params = suggest(search, trial, results);
    const curve = task.curve(params);
    const isStopped = (step: number): boolean => {
      if (stop === undefined || step === curve.length) return false;
      const from = reports.filter((report) => report.trial === trial).length;
      const reached = reachedRungs({ trial, from }, stop, [{ step, value: curve[step - 1] ?? Number.NaN }]);
      reports.push(...reached);
      return reached.length > 0 && judge(stopping, trial, reports).stop;
    };
    let step = 1;
    while (step < curve.length && !isStopped(step)) step += 1;
    epochs += step;
    const value = curve[step - 1] ?? null;
    results.push({ trial, params, value, status: step === curve.length ? 'complete' : 'stopped early' });
  }
  const complete = results
    .filter(({ status }) => status === 'complete')
    .map(({ value }) => value ?? Number.POSITIVE_INFINITY);
  return { best: Math.min(...complete), epochs, trials: results.length };
}
