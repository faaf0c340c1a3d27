import { badRequest, type ParameterFault } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import type { Criterion, Project } from '../../../shared/data/projects/project.ts';
import type { Sweep } from '../../../shared/data/sweeps/sweep.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { scalarPaths } from '../../../shared/experiments/config-params.ts';
import { budgetFault, ofOneRun } from '../../../shared/jobs/budget.ts';
import { costEstimate } from '../../../shared/jobs/cost.ts';
import { durationOf } from '../../../shared/jobs/shown-job.ts';
import { usualGoal } from '../../../shared/metrics/criteria.ts';
import { gridSize } from '../../../shared/sweeps/sampling/grid.ts';
import { maxTrials } from '../../../shared/sweeps/spec/limits.ts';
import { faultsOfNames } from '../../../shared/sweeps/spec/sweep-faults.ts';
import type { SweepSpec } from '../../../shared/sweeps/spec.ts';
import { withFlags } from '../../../shared/sweeps/trials/run-inputs.ts';
import { parseStored } from '../../../shared/training/parse-stored.ts';
import type { TrainingInputs } from '../../../shared/training/record-experiment.ts';
import type { ExpectedInputs } from '../training/expected-inputs.ts';
import { inputsOfBody } from '../training/inputs-of-body.ts';

/** Most bytes of a sweep's file. It is kept in one item. */
export const specMaxBytes = 200_000;

/** A sweep as its request and its project determine it. */
export interface ResolvedSweep extends Pick<Sweep, 'criterion' | 'trials' | 'run_cost' | 'run_seconds'> {
  inputs: TrainingInputs;
}

/**
 * Check a sweep against its project, and return what its experiments are made of.
 * @throws ServiceError 400 that names every fault, `not-found` for a missing configuration or data set, `conflict`
 * without an environment, or if the project has other inputs than the client expects
 */
export async function resolveSweep(
  spec: SweepSpec,
  expected: ExpectedInputs,
  { records, project, settings }: { records: TableReader<'records'>; project: Project; settings: Settings },
): Promise<ResolvedSweep> {
  const { project_id } = project;
  const { inputs, isOnNodes } = await inputsOfBody(spec, expected, { records, project, settings });
  const { environment, config_id } = inputs;
  const [criterion, run_seconds] = await Promise.all([
    criterionOf(records, project_id, spec),
    usualSeconds(records, project_id, config_id),
  ]);
  // Refuse a command that takes no flags now, and not when the first trial begins.
  const names = Object.keys(spec.parameters).map((name) => [name, 0]);
  if (spec.args) withFlags(environment.entry_point_command, Object.fromEntries(names));
  const run_cost = costEstimate(settings.prices, { ...inputs, isOnNodes });
  const faults = [
    ...(await faultsAgainst(spec, inputs)),
    ...('fault' in criterion ? [criterion.fault] : []),
    ...faultsOfBudget(spec, run_cost),
  ];
  if (faults.length > 0 || 'fault' in criterion) throw badRequest(faults);
  const trials = spec.trials ?? gridSize(spec.parameters, maxTrials) ?? maxTrials;
  return { inputs, criterion, trials, run_cost, run_seconds };
}

/** Return the faults of the sweep's names beside those of its configuration. */
async function faultsAgainst(spec: SweepSpec, inputs: TrainingInputs): Promise<ParameterFault[]> {
  const { config_id } = inputs;
  const { data } = await parseStored(config_id, inputs.content);
  const named = spec.args ? { parameters: {}, repeat_seed: spec.repeat_seed } : spec;
  return faultsOfNames(named, config_id, scalarPaths(data)).map((fault) => ({ in: 'body', ...fault }));
}

/** Return the metric that ranks the trials, and its direction. */
async function criterionOf(
  records: TableReader<'records'>,
  project_id: string,
  { metric, goal }: SweepSpec,
): Promise<Criterion | { fault: ParameterFault }> {
  if (metric === undefined) {
    const { name, goal: usual } = await readCriterion(records, project_id);
    return { name, goal: goal ?? usual };
  }
  const known = goal ?? usualGoal(metric);
  if (known !== undefined) return { name: metric, goal: known };
  const message = `must be minimize or maximize, because nobody knows which is better for ${metric}`;
  return { fault: { in: 'body', name: 'goal', message } };
}

function faultsOfBudget({ budget }: SweepSpec, run_cost: number | null): ParameterFault[] {
  if (budget === undefined) return [];
  const message = budgetFault(budget, run_cost, ofOneRun);
  return message === undefined ? [] : [{ in: 'body', name: 'budget', message }];
}

/** Return the median seconds of the latest experiments with a configuration. Return null if there are none. */
async function usualSeconds(
  records: TableReader<'records'>,
  project_id: string,
  config_id: string,
): Promise<number | null> {
  const { items } = await listExperiments(records, project_id, { limit: looksAt });
  const seconds = items
    .filter((item) => item.status === 'SUCCEEDED' && item.config_id === config_id)
    .flatMap((item) => durationOf(item, new Date(0)) ?? [])
    .sort((a, b) => a - b);
  return seconds[seconds.length >> 1] ?? null;
}

/** Number of the latest experiments that an estimate looks at. */
const looksAt = 50;
