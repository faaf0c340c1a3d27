import {
  type Experiment,
  experimentKey,
  outcomeOf,
  parseExperiment,
} from '../../data/experiments/experiment.ts';
import { nothingTracked, readTrackingOfEach } from '../../data/experiments/tracking.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import type { Sweep } from '../../data/sweeps/sweep.ts';
import { findRuns, lastTry, type RunTry, type SweepRun } from '../../data/sweeps/sweep-run.ts';
import type { TableReader } from '../../data/table/table.ts';
import { actualCost } from '../../jobs/cost.ts';
import { reasons } from '../../jobs/reasons.ts';
import { durationOf } from '../../jobs/shown-job.ts';
import { MetricRanker, metricsOf } from '../../metrics/metric-ranker.ts';
import { withoutSystem } from '../../metrics/system-metric.ts';
import { repeatedValue } from '../repeated-value.ts';
import type { SweepSpec } from '../spec.ts';
import { repeatAt } from '../trial-results.ts';
import type { EndedRun, JudgedTrial } from './sweep-state.ts';

/** Runs of a sweep that have ended since its last decision. */
export interface Ends {
  ended: EndedRun[];
  judged: JudgedTrial[];
  /** Their rows, as they are after this decision. */
  rows: SweepRun[];
  /** Whether these are all that have ended. */
  isAll: boolean;
}

/** Read which runs of a sweep have ended, with their values. One call takes in ten at most. */
export async function collectEnds(
  records: TableReader<'records'>,
  sweep: Sweep,
  spec: Pick<SweepSpec, 'repeats' | 'retries'>,
): Promise<Ends> {
  const { project_id, running } = sweep;
  const items = await records.batchGet(
    running.map(({ experiment_id }) => experimentKey(project_id, experiment_id)),
  );
  const over = running.flatMap((one, index) => {
    const item = items[index];
    const experiment = item && parseExperiment(item);
    return experiment === undefined || isFinal(experiment.status) ? [{ ...one, experiment }] : [];
  });
  const some = over.slice(0, maxEnds);
  if (some.length === 0) return { ended: [], judged: [], rows: [], isAll: true };
  const [found, tracked] = await Promise.all([
    findRuns(
      records,
      sweep,
      some.map(({ run }) => run),
    ),
    readTrackingOfEach(
      records,
      some.map(({ experiment_id }) => ({ project_id, experiment_id })),
    ),
  ]);
  const ranker = new MetricRanker(sweep.criterion);
  const rows: SweepRun[] = [];
  const ended = some.flatMap(({ run, experiment_id, experiment }, index): EndedRun[] => {
    const row = found[index];
    if (row === undefined) return [];
    const { metrics } = tracked.of.get(experiment_id) ?? nothingTracked;
    const measured = metricsOf(metrics);
    const best = ranker.best(measured);
    const reached = best && { ...best, last: metrics.get(best.metric)?.last ?? null };
    const last = endedTry(lastTry(row), experiment, sweep.decisions + 1, reached);
    const tries = [...row.tries.slice(0, -1), last];
    rows.push({ ...row, tries });
    return [
      {
        run,
        outcome: last.outcome ?? 'cancelled',
        status_reason: last.status_reason,
        otherNames: ranker.standing(measured).length > 0 ? null : [...withoutSystem(metrics).keys()],
        cost: last.cost ?? 0,
        seconds: last.stopped_at === null ? null : durationOf(last, new Date(0)),
        failures: tries.filter(({ outcome }) => outcome === 'failed').length,
        isOrphan: experiment?.status_reason === reasons.userDeleted,
      },
    ];
  });
  const judged = await judgeTrials(records, sweep, spec, { ended, rows });
  return { ended, judged, rows, isAll: over.length === some.length };
}

/** Most ends that one decision takes in. Each takes two writes of a transaction, which also begins a run. */
const maxEnds = 10;

function endedTry(
  begun: RunTry,
  experiment: Experiment | undefined,
  ended: number,
  best: { value: number; step: number | null; last: number | null } | null,
): RunTry {
  const deleted = { outcome: 'cancelled' as const, status_reason: 'Its experiment was deleted.' };
  if (experiment === undefined) return { ...begun, ended, ...deleted };
  const { started_at, stopped_at, status_reason } = experiment;
  return {
    ...begun,
    ended,
    outcome: outcomeOf(experiment) ?? 'cancelled',
    status_reason: status_reason?.slice(0, longestReason) ?? null,
    value: best === null ? null : String(best.value),
    step: best?.step ?? null,
    last: best?.last == null ? null : String(best.last),
    started_at,
    stopped_at,
    cost: actualCost(experiment),
  };
}

/** Maximum characters of a reason in the row of a run. */
const longestReason = 500;

/** Return the trials whose repeats have all ended with these ends. */
async function judgeTrials(
  records: TableReader<'records'>,
  sweep: Sweep,
  { repeats, retries }: Pick<SweepSpec, 'repeats' | 'retries'>,
  { ended, rows }: Pick<Ends, 'ended' | 'rows'>,
): Promise<JudgedTrial[]> {
  const open = new Set([
    ...sweep.again,
    ...sweep.running.map(({ run }) => run).filter((run) => !ended.some((one) => one.run === run)),
    ...ended
      .filter(({ outcome, failures }) => outcome === 'failed' && failures <= retries)
      .map(({ run }) => run),
  ]);
  const trials = [...new Set(rows.map(({ trial }) => trial))];
  const judged = await Promise.all(
    trials.map(async (trial): Promise<JudgedTrial[]> => {
      const numbers = Array.from({ length: repeats }, (_, at) => trial * repeats + at);
      if (numbers.some((run) => open.has(run) || run >= sweep.begun)) return [];
      const before = repeats === 1 ? [] : await findRuns(records, sweep, numbers);
      const all = numbers.map((run, at) => rows.find((row) => row.run === run) ?? before[at]);
      const known = all.filter((row) => row !== undefined);
      const params = JSON.parse(known[0]?.params ?? '{}');
      const tries = known.map(lastTry);
      const [one] = tries;
      // The mean of repeats has no step.
      const reached =
        repeats > 1 || one === undefined
          ? { step: null, last: null }
          : { step: one.step, last: finite(one.last) };
      return [{ trial, params, ...repeatedValue(tries.map((each) => repeatAt(each))), ...reached }];
    }),
  );
  return judged.flat();
}

/** Return the number of a text; null if it is none, or none that JSON has. */
export function finite(text: string | null): number | null {
  const number = text === null ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}
