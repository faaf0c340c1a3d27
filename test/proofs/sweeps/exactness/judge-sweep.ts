import { isDeepStrictEqual } from 'node:util';
import { lastTry, type RunTry, type SweepRun } from '../../../../shared/data/sweeps/sweep-run.ts';
import { judge } from '../../../../shared/sweeps/early-stopping.ts';
import { type Search, suggest } from '../../../../shared/sweeps/suggest.ts';
import { resultsAt } from '../../../../shared/sweeps/trial-results.ts';
import { specOf } from '../../../../shared/sweeps/trials/advance-sweep.ts';
import type { StoredSweep } from './stored-sweep.ts';

/** Return what is wrong with a sweep that has ended: each sentence names one promise that it broke. */
export function judgeSweep(stored: StoredSweep): string[] {
  return [
    ...faultsOfRuns(stored),
    ...faultsOfExperiments(stored),
    ...faultsOfPlaces(stored),
    ...faultsOfValues(stored),
    ...faultsOfStops(stored),
    ...(stored.turns === 0 ? [] : [`${stored.turns} decisions are still owed`]),
  ];
}

/** Each repeat of each trial is one run, has one end, and is counted once. */
function faultsOfRuns({ sweep, runs }: StoredSweep): string[] {
  const { repeats } = specOf(sweep);
  const wanted = Array.from({ length: sweep.trials * repeats }, (_, run) => run);
  const counted = sweep.counts.complete + sweep.counts.stopped_early;
  const open = runs.filter((run) => !['complete', 'stopped early'].includes(lastTry(run).outcome ?? ''));
  const earlier = runs.flatMap(({ tries }) => tries.slice(0, -1));
  const odd = earlier.filter(({ outcome }) => outcome !== 'failed');
  return [
    ...(sweep.status === 'COMPLETED' ? [] : [`it is ${sweep.status}: ${sweep.status_reason}`]),
    ...(isDeepStrictEqual(
      runs.map(({ run }) => run),
      wanted,
    )
      ? []
      : [`it has ${runs.length} runs instead of ${wanted.length}`]),
    ...(counted === wanted.length ? [] : [`it counts ${counted} ends`]),
    ...open.map((run) => `run ${run.run} is ${lastTry(run).outcome}: ${lastTry(run).status_reason}`),
    ...odd.map(({ experiment_id, outcome }) => `${experiment_id} is ${outcome} and was tried again`),
  ];
}

/** Each experiment is one try, and each try one experiment. */
function faultsOfExperiments({ runs, experiments }: StoredSweep): string[] {
  const tries = runs.flatMap((run) => run.tries.map(({ experiment_id }) => `${run.run} ${experiment_id}`));
  const known = experiments.map(({ sweep, experiment_id }) => `${sweep?.run} ${experiment_id}`);
  const [ofTries, ofExperiments] = [new Set(tries), new Set(known)];
  return [
    ...known.filter((one) => !ofTries.has(one)).map((one) => `the experiment ${one} is no try`),
    ...tries.filter((one) => !ofExperiments.has(one)).map((one) => `the try ${one} has no experiment`),
    ...(ofTries.size === tries.length ? [] : ['a try is there twice']),
    ...experiments
      .filter(({ stopped_at }) => stopped_at === null)
      .map(({ experiment_id }) => `${experiment_id} has not ended`),
  ];
}

/** Never more than `parallel` at once, by the decisions and by the clock. */
function faultsOfPlaces(stored: StoredSweep): string[] {
  const { parallel } = specOf(stored.sweep);
  const most = mostAtOnce(stored);
  return [
    ...(most.byDecision <= parallel ? [] : [`${most.byDecision} ran at once after a decision`]),
    ...(most.byClock <= parallel ? [] : [`${most.byClock} ran at once by the clock`]),
  ];
}

/** Return the most experiments that had begun and not ended, by the numbers of decisions and by the clock. */
export function mostAtOnce({ runs, experiments }: StoredSweep): { byDecision: number; byClock: number } {
  const tries = runs.flatMap((run) => run.tries);
  return {
    byDecision: mostOpen(tries.map(({ begun, ended }) => [begun, ended ?? Number.POSITIVE_INFINITY])),
    byClock: mostOpen(
      experiments.map(({ created_at, stopped_at }) => [
        Date.parse(created_at),
        stopped_at === null ? Number.POSITIVE_INFINITY : Date.parse(stopped_at),
      ]),
    ),
  };
}

/** Return the most spans that are open at once. A span ends before others that begin at its end. */
function mostOpen(spans: readonly (readonly [number, number])[]): number {
  const changes = spans.flatMap(([from, to]) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  let [open, most] = [0, 0];
  for (const { by } of changes.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
    open += by;
    most = Math.max(most, open);
  }
  return most;
}

/** Values are those of an undisturbed sweep, or those that the kept inputs of their decision give again. */
function faultsOfValues({ sweep, runs }: StoredSweep): string[] {
  const spec = specOf(sweep);
  const search: Search = { ...spec, goal: sweep.criterion.goal };
  const results = (trial: number, { begun }: RunTry) =>
    spec.method === 'tpe'
      ? resultsAt(runs, spec.repeats, begun).filter((result) => result.trial < trial)
      : [];
  return [...Map.groupBy(runs, ({ trial }) => trial)].flatMap(([trial, repeats]) => {
    const [first] = repeats;
    const [begun] = first?.tries ?? [];
    if (first === undefined || begun === undefined) return [`trial ${trial} has no run`];
    const again = suggest(search, trial, results(trial, begun));
    return repeats
      .filter(({ params }) => !isDeepStrictEqual(JSON.parse(params), again))
      .map(({ run, params }) => `run ${run} has ${params} instead of ${JSON.stringify(again)}`);
  });
}

/** Each decision at a rung is the one that the reports before it give again, and its run ended by it. */
function faultsOfStops({ sweep, runs, reports }: StoredSweep): string[] {
  const { stop } = specOf(sweep);
  const stopping = { stop, metric: sweep.criterion.name, goal: sweep.criterion.goal };
  const inOrder = reports.toSorted((one, other) => one.order - other.order);
  const asReport = ({ run, rung, step, value }: (typeof reports)[number]) => ({
    trial: run,
    rung,
    step,
    value,
  });
  const decided = inOrder.flatMap((report, at) => {
    const saw = inOrder.slice(0, at + 1).map(asReport);
    const { stop: stops, reason } = judge(stopping, report.run, saw, report.rung);
    const name = `report ${report.order} of run ${report.run}`;
    return [
      ...(report.order === at ? [] : [`${name} has place ${at}`]),
      ...((stops ? (reason ?? null) : null) === report.stopped
        ? []
        : [`${name} is "${report.stopped}" instead of "${reason ?? null}"`]),
    ];
  });
  const stopped = new Set(reports.filter((report) => report.stopped !== null).map(({ run }) => run));
  return [...decided, ...runs.flatMap((run) => faultOfEnd(run, stopped.has(run.run)))];
}

/** A run ends early by a decision alone. A training that ends before it is stopped is complete all the same. */
function faultOfEnd(run: SweepRun, isStopped: boolean): string[] {
  const isEarly = lastTry(run).outcome === 'stopped early';
  return isEarly && !isStopped ? [`run ${run.run} ended early without a decision`] : [];
}
