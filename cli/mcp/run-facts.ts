import type { Compression, Operation } from '../commands/models/follow-compression.ts';
import type { Experiment } from '../experiments/experiment.ts';
import type { Sweep } from '../sweeps/begin-sweep.ts';
import type { Agent } from './agent.ts';
import type { ToolAnswer } from './answer-text.ts';

export const runUnits = { cost: 'US$', cost_estimate: 'US$', budget: 'US$', duration: 's', memory: 'MiB' };

/** What an agent needs to know of a run. */
export function runAnswer(agent: Agent, experiment: Experiment): ToolAnswer & { page: string } {
  const { project_id, experiment_id, name, status, outcome, status_reason, created_at } = experiment;
  const { duration, cost, cost_estimate, command, best, best_reason, params, metrics, note } = experiment;
  const { rerun_of, sweep_id, trial, warnings, artifacts, git, user, place_in_line, exit_code } = experiment;
  const { vcpus, memory, gpus, nodes, timeout } = experiment;
  const summary = Object.entries(metrics).map(([metric, { last, min, max, step }]) => [
    metric,
    { last, min, max, step },
  ]);
  return {
    page: agent.page('projects', project_id, 'experiments', experiment_id),
    resource: `mps://runs/${project_id}/${experiment_id}`,
    units: runUnits,
    data: {
      ...{ run: experiment_id, project: project_id, name, status, outcome, status_reason, exit_code },
      ...{ best, best_reason, cost, cost_estimate, duration, created_at, place_in_line },
      metrics: Object.fromEntries(summary),
      ...{ params, command, warnings, note, user, rerun_of, sweep: sweep_id, trial, artifacts },
      size: { vcpus, memory, gpus, nodes, timeout },
      commit: git?.commit,
    },
  };
}

/** A run in a list, or the answer to the call that began it. */
export const runRow = (experiment: Experiment) => {
  const { experiment_id, name, status, outcome, created_at, duration, best, cost, cost_estimate, params } =
    experiment;
  const reached = best && { metric: best.metric, value: best.value, step: best.step };
  return {
    run: experiment_id,
    name,
    status,
    outcome,
    best: reached,
    cost,
    cost_estimate,
    duration,
    created_at,
    params,
  };
};

/** What an agent needs to know of a sweep. */
export function sweepAnswer(agent: Agent, sweep: Sweep): ToolAnswer & { page: string } {
  const { project_id, sweep_id, name, status, status_reason, metric, goal, method, counts, best } = sweep;
  const { budget, spent, estimate, trials, parallel, parameters } = sweep;
  return {
    page: agent.page('projects', project_id, 'sweeps', sweep_id),
    units: { budget: 'US$', spent: 'US$', 'estimate.cost': 'US$', 'estimate.hours': 'h' },
    data: {
      ...{ sweep: sweep_id, project: project_id, name, status, status_reason, metric, goal, method },
      ...{ best, counts, spent, budget, trials, parallel, estimate, parameters },
    },
  };
}

/** The answer to the request that begins a compression has neither its receipt nor its result. */
export type BegunCompression = Omit<Compression, 'receipt' | 'result'>;

/** What an agent needs to know of a compression: what it changed, and what that cost. */
export function compressionAnswer(
  agent: Agent,
  operation: Operation,
  compression: BegunCompression & Partial<Compression>,
): ToolAnswer & { page: string } {
  const { strategy_id, model_name, status, status_reason, progress, cost, cost_estimate } = compression;
  const { receipt = null, result = [], result_name } = compression;
  const bytes = result.reduce((sum, { size }) => sum + size, 0);
  return {
    page: `${agent.page('models', model_name)}?strategy=${strategy_id}`,
    resource: `mps://compressions/${strategy_id}`,
    units: { cost: 'US$', cost_estimate: 'US$', bytes: 'bytes', mb: '1,000,000 bytes', accuracy: 'share' },
    data: {
      ...{ compression: strategy_id, operation, model: model_name, status, status_reason, progress },
      ...{ cost, cost_estimate, result_name },
      ...(bytes > 0 && { mb: bytes / 1e6 }),
      ...(receipt !== null && {
        summary: receipt.summary,
        is_useless: receipt.is_useless,
        strategy: receipt.strategy,
        bytes: receipt.file_bytes,
        accuracy: receipt.accuracy && { before: receipt.accuracy.before, after: receipt.accuracy.after },
        agreement: receipt.agreement?.share,
        compared_on: receipt.compared_on?.source,
        warnings: receipt.warnings,
        suggestions: receipt.suggestions,
      }),
      save: `mps receipt ${strategy_id} --to small.onnx`,
    },
  };
}
