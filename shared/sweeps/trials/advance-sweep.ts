import { type Deadline, forSeconds } from '../../core/deadline.ts';
import { notFound, ServiceError } from '../../core/service-error.ts';
import { originOf } from '../../data/accounts/ci-run.ts';
import { type Experiment, findExperiment } from '../../data/experiments/experiment.ts';
import { inexactMessage } from '../../data/projects/exact-number.ts';
import { findProjects, type Project } from '../../data/projects/project.ts';
import { hasEnded } from '../../data/sweeps/has-ended.ts';
import { changedSweep, findSweep, replaceSweep, requireSweep, type Sweep } from '../../data/sweeps/sweep.ts';
import { findRuns, lastTry, putRun, type SweepIds, type SweepRun } from '../../data/sweeps/sweep-run.ts';
import { putTurn, removeTurn, type SweepTurn } from '../../data/sweeps/sweep-turn.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { TableReader, Write } from '../../data/table/table.ts';
import type { ConditionFailedError } from '../../data/table/write-label.ts';
import { type Admitted, type Submitting, submitAdmitted } from '../../jobs/admission.ts';
import { budgetShortCode } from '../../jobs/budget.ts';
import { cancelJob } from '../../jobs/cancellation.ts';
import { type BeginContext, checkpointsKept, recordExperiment } from '../../training/record-experiment.ts';
import { SweepSpec } from '../spec.ts';
import { suggest } from '../suggest.ts';
import { resultsAt } from '../trial-results.ts';
import type { Params } from '../types.ts';
import { collectEnds, type Ends } from './collect-ends.ts';
import { knownRuns } from './known-runs.ts';
import { removeDeleted } from './remove-deleted.ts';
import { runInputs } from './run-inputs.ts';
import { sweepNotices } from './sweep-notices.ts';
import { budgetReached, chargedTo, nextRun, type Payer, settle, withBegun } from './sweep-state.ts';

/**
 * Let a sweep decide: take in the runs that have ended, and begin as many as may run. Each step is one transaction, on
 * condition that nobody else took one since the read. So any process may call this at any time, also in parallel and
 * again, and no run is begun twice.
 * @param turn what asks for the decision; its row goes with the last transaction. If time runs out it stays
 */
export async function advanceSweep(
  context: SweepContext,
  turn: SweepTurn,
  hasTime: Deadline = forSeconds(usualSeconds),
): Promise<void> {
  do {
    const step = await retryOnConflict((number) => takeStep(context, turn, number), {
      isConflict: (error: ConditionFailedError) =>
        changedSweep.failedIn(error) || checkpointsKept.failedIn(error),
      calls: stepsAtOnce,
    });
    if (step.begun !== undefined) await submitAdmitted(step.begun, context);
    if (!step.goesOn) return;
  } while (hasTime());
}

/** Seconds that decisions may take in one request or event, which has 29. */
const usualSeconds = 12;

/** Services that the decisions of a sweep use. */
export type SweepContext = Submitting & Pick<BeginContext, 'newId'>;

/** Decisions of one sweep that may meet. In each round one of them succeeds. */
const stepsAtOnce = 50;

interface Step {
  /** Experiment that the step has recorded. */
  begun?: Admitted<Experiment>;
  /** Whether more is to be decided now. */
  goesOn: boolean;
}

async function takeStep(context: SweepContext, turn: SweepTurn, number: number): Promise<Step> {
  const { records, now } = context;
  const sweep = await findSweep(records, turn.project_id, turn.sweep_id);
  if (sweep === undefined) {
    await records.write(removeTurn(turn.turn_id));
    return { goesOn: false };
  }
  const spec = specOf(sweep);
  const ends = await collectEnds(records, sweep, spec);
  const settled = { ...settle(sweep, spec, ends.ended, ends.judged), decisions: sweep.decisions + 1 };
  const decision = { sweep, next: withinBudget(settled, spec), spec, ends, turn };
  if (ends.isAll && mayBegin(decision.next, spec)) return beginRun(context, decision, number <= 3);
  if (ends.ended.length > 0 || decision.next.status !== sweep.status) {
    // A sweep that has just ended stops its runs in the next step.
    const goesOn = !ends.isAll || isToEnd(decision.next);
    const told = await sweepNotices(records, sweep, decision.next, now());
    await records.write(...stateWrites(decision, now()), ...turnWrites(decision, !goesOn), ...told);
    return { goesOn };
  }
  if (isToEnd(sweep) && (await cancelRunning(context, sweep))) return { goesOn: true };
  if (sweep.deleting !== undefined && sweep.running.length === 0)
    return { goesOn: await removeDeleted(context, sweep, sweep.deleting, turn) };
  await records.write(removeTurn(turn.turn_id));
  return { goesOn: false };
}

/** A decision before it is stored. */
interface Decision {
  /** The sweep as it was read. */
  sweep: Sweep;
  next: Sweep;
  spec: SweepSpec;
  ends: Ends;
  /** Undefined if a client asks for the run. */
  turn: SweepTurn | undefined;
}

/** Return the file of a sweep. Earlier releases took whole numbers that are not kept exactly: what is stored stays valid. */
export function specOf({ spec }: Pick<Sweep, 'spec'>): SweepSpec {
  const stored: SweepSpec = JSON.parse(spec);
  const parsed = SweepSpec.safeParse(stored);
  if (parsed.success) return parsed.data;
  if (parsed.error.issues.every(({ message }) => message === inexactMessage)) return stored;
  throw parsed.error;
}

/** Whether runs of an ended sweep still run. */
const isToEnd = (sweep: Sweep): boolean => hasEnded(sweep) && sweep.running.length > 0;

/** Pause a sweep whose budget leaves no room for the next run, once no other run may leave some. */
function withinBudget(sweep: Sweep, spec: SweepSpec): Sweep {
  if (sweep.running.length > 0 || nextRun(sweep, spec) === undefined) return sweep;
  const reason = budgetReached(sweep, spec.budget);
  return reason === undefined ? sweep : { ...sweep, status: 'PAUSED', status_reason: reason };
}

const mayBegin = (sweep: Sweep, spec: SweepSpec): boolean =>
  nextRun(sweep, spec) !== undefined && budgetReached(sweep, spec.budget) === undefined;

/** Build the writes that store the next state of a sweep, with the rows of runs that have ended or begin. */
function stateWrites({ sweep, next, ends }: Decision, now: Date, begun: readonly SweepRun[] = []): Write[] {
  const ended_at = hasEnded(next) ? (sweep.ended_at ?? now.toISOString()) : null;
  const rows = new Map([...ends.rows, ...begun].map((row) => [row.run, row]));
  return [
    replaceSweep(sweep, { ...next, ended_at }, now),
    ...[...rows.values()].map((row) => putRun(sweep, row)),
  ];
}

/** Build the writes that remove the turns of the experiments whose ends a decision has processed, and its own if it is done. */
function turnWrites({ ends, turn }: Decision, isDone: boolean): Write[] {
  const settled = ends.rows.map((row) => lastTry(row).experiment_id);
  const own = turn?.turn_id;
  return [...new Set([...settled, ...(own === undefined ? [] : [own])])]
    .filter((turn_id) => isDone || turn_id !== own)
    .map(removeTurn);
}

/**
 * Begin the next run: record its experiment, and the state of the sweep with it.
 * @param mayContinue whether a further try may start from the checkpoints of the one before
 */
async function beginRun(context: SweepContext, decision: Decision, mayContinue: boolean): Promise<Step> {
  const { records, now } = context;
  const { next, spec } = decision;
  const due = nextRun(next, spec);
  if (due === undefined) return { goesOn: false };
  try {
    const row = await rowOf(records, decision, due.run);
    // The Idempotency-Key of a request belongs to its sweep, not to each run that the sweep begins.
    const own = { ...context, idempotencyWrites: () => [] };
    return await recordRun(own, decision, { ...due, row }, mayContinue);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'unavailable') throw error;
    // The line of the user is full, or what runs may give money back: the turn stays, and the reconciler tries again.
    const isShort = error.code === budgetShortCode && next.running.length === 0;
    if (error.kind === 'conflict' && !isShort) {
      if (decision.ends.ended.length > 0)
        await records.write(...stateWrites(decision, now()), ...turnWrites(decision, false));
      return { goesOn: false };
    }
    const status_reason = `The next run cannot begin: ${error.message}`;
    const paused = { ...decision, next: { ...next, status: 'PAUSED' as const, status_reason } };
    await records.write(...stateWrites(paused, now()), ...turnWrites(paused, true));
    return { goesOn: false };
  }
}

/** Return the row of a run without a new try: the stored one, or one with the values that the method suggests. */
async function rowOf(
  records: TableReader<'records'>,
  { sweep, spec, ends }: Decision,
  run: number,
): Promise<SweepRun> {
  const { repeats, method } = spec;
  const trial = Math.floor(run / repeats);
  const [own, first] = await findRuns(records, sweep, [run, trial * repeats]);
  const present = ends.rows.find((row) => row.run === run) ?? own;
  if (present !== undefined) return present;
  const place = { run, trial, repeat: (run % repeats) + 1, tries: [] };
  if (run % repeats !== 0 && first !== undefined) return { ...place, params: first.params };
  const params = suggest(
    { ...spec, goal: sweep.criterion.goal },
    trial,
    method === 'tpe' || method === 'grid' ? await seen(records, sweep, spec, ends) : [],
  );
  return { ...place, params: JSON.stringify(params) };
}

/** Return the results of all trials. A run whose end this decision processes has its new row, not the stored one. */
async function seen(records: TableReader<'records'>, sweep: Sweep, { repeats }: SweepSpec, { rows }: Ends) {
  const settled = new Map(rows.map((row) => [row.run, row]));
  const stored = await knownRuns(records, sweep);
  return resultsAt(
    stored.map((row) => settled.get(row.run) ?? row),
    repeats,
  );
}

interface DueRun {
  run: number;
  isNew: boolean;
  row: SweepRun;
}

async function recordRun(
  context: SweepContext & Pick<BeginContext, 'idempotencyWrites'>,
  decision: Decision,
  { run, isNew, row }: DueRun,
  mayContinue: boolean,
  further: readonly Write[] = [],
): Promise<Step> {
  const { records, now } = context;
  const { sweep, next, spec } = decision;
  const { trial, repeat } = row;
  const project = await findProject(records, sweep.project_id);
  if (project === undefined) {
    // Nothing of a deleted project is decided any more.
    await records.write(...turnWrites(decision, true));
    return { goesOn: false };
  }
  const before = row.tries.at(-1);
  const earlier =
    before === undefined || !mayContinue
      ? undefined
      : await findExperiment(records, sweep.project_id, before.experiment_id);
  const params: Params = JSON.parse(row.params);
  const inputs = await runInputs(records, sweep, spec, { params, repeat }, earlier);
  const state = (experiment_id: string) => withBegun(next, { run, isNew }, experiment_id);
  const goesOn = mayBegin(state(''), spec);
  const writes = (experiment_id: string): Write[] => {
    const begun = { ...emptyTry, experiment_id, begun: next.decisions };
    const after = { ...decision, next: state(experiment_id) };
    return [
      ...stateWrites(after, now(), [{ ...row, tries: [...row.tries, begun] }]),
      ...turnWrites(after, !goesOn),
      ...further,
    ];
  };
  const admitted = await recordExperiment(
    { ...inputs, rules: spec.rules },
    {
      ...context,
      project,
      caller: { user_id: sweep.user_id, ...originOf(next) },
    },
    {
      place: {
        sweep: {
          sweep_id: sweep.sweep_id,
          run,
          trial,
          repeat,
          seed: spec.repeat_seed === undefined ? repeat : null,
        },
      },
      unchanged: changedSweep,
      name: `${sweep.name.slice(0, 100)} #${trial}${spec.repeats > 1 ? `.${repeat}` : ''}`,
      params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])),
      writes,
    },
  );
  return { begun: admitted, goesOn };
}

const emptyTry = {
  ended: null,
  outcome: null,
  status_reason: null,
  value: null,
  step: null,
  last: null,
  started_at: null,
  stopped_at: null,
  cost: null,
};

async function findProject(
  records: TableReader<'records'>,
  project_id: string,
): Promise<Project | undefined> {
  return (await findProjects(records, [project_id])).items[0];
}

/**
 * Begin a trial whose values a client chooses. Its further repeats follow by a turn.
 * @throws ServiceError `conflict` if the sweep takes no further trial now
 */
export async function beginAsked(
  context: SweepContext & Pick<BeginContext, 'idempotencyWrites'> & { caller: Payer },
  { project_id, sweep_id }: SweepIds,
  params: Params,
): Promise<Experiment> {
  const { records, newId, now } = context;
  const turn = { turn_id: newId(), project_id, sweep_id, created_at: now().toISOString() };
  const ask = async (): Promise<Step> => {
    const sweep = await requireSweep(records, project_id, sweep_id);
    const spec = specOf(sweep);
    const ends = await collectEnds(records, sweep, spec);
    const settled = { ...settle(sweep, spec, ends.ended, ends.judged), decisions: sweep.decisions + 1 };
    // Its repeats and further tries follow by themselves.
    const next = chargedTo(settled, context.caller);
    refuseTrial(next, spec);
    const run = next.begun;
    const place = { run, trial: Math.floor(run / spec.repeats), repeat: 1, tries: [] };
    const due = { run, isNew: true, row: { ...place, params: JSON.stringify(params) } };
    const further = spec.repeats > 1 ? [putTurn(turn)] : [];
    return recordRun(context, { sweep, next, spec, ends, turn: undefined }, due, false, further);
  };
  const { begun } = await retryOnConflict(ask, {
    isConflict: (error: ConditionFailedError) => changedSweep.failedIn(error),
    calls: stepsAtOnce,
  });
  if (begun === undefined) throw notFound('project', project_id);
  await submitAdmitted(begun, context);
  return begun.record;
}

/** @throws ServiceError `conflict` if no further trial may begin */
function refuseTrial(sweep: Sweep, { repeats, parallel, budget }: SweepSpec): void {
  const refuse = (detail: string) => {
    throw new ServiceError('conflict', detail);
  };
  const { status, status_reason, running, begun, trials } = sweep;
  if (begun >= trials * repeats) refuse(`All ${trials} trials were begun. Extend the sweep.`);
  if (status !== 'RUNNING') refuse(`The sweep is ${status}. ${status_reason ?? ''}`.trim());
  if (begun % repeats !== 0) refuse('The repeats of the trial before are still to begin. Try again.');
  if (running.length >= parallel)
    refuse(`${running.length} of its experiments run, the most at once. Ask again once one has ended.`);
  const reason = budgetReached(sweep, budget);
  if (reason !== undefined) refuse(reason);
}

/**
 * Cancel the runs of a sweep that has ended.
 * @returns whether one of them ended at once, because it had no container yet
 */
async function cancelRunning(
  { records, batch, settings, now }: SweepContext,
  { project_id, running, cancelled_by }: Sweep,
): Promise<boolean> {
  let hasOneEnded = false;
  for (const { experiment_id } of running) {
    const experiment = await findExperiment(records, project_id, experiment_id);
    if (experiment === undefined) continue;
    await cancelJob(records, batch, settings, experiment, { by: cancelled_by, now: now() });
    const present = await findExperiment(records, project_id, experiment_id);
    hasOneEnded ||= present === undefined || present.stopped_at !== null;
  }
  return hasOneEnded;
}
