import * as z from 'zod/mini';
import type { endpoint as readMetrics } from '../../functions/experiments/metrics/read-metrics.endpoint.ts';
import type { endpoint as readLogs } from '../../functions/experiments/records/read-logs.endpoint.ts';
import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as readProjectBudget } from '../../functions/projects/budget/read-project-budget.endpoint.ts';
import { compareExperiments, newestTwo } from '../commands/experiments/compare.ts';
import { orderTerm } from '../commands/experiments/ls.ts';
import type { Experiment } from '../experiments/experiment.ts';
import { findExperiment } from '../experiments/find-experiment.ts';
import { findProject } from '../projects/find-project.ts';
import type { Agent } from './agent.ts';
import { runAnswer, runRow, runUnits } from './run-facts.ts';
import { bytesOf, list, longInput, projectInput, runInput, type Tool, text, tool, whole } from './tool.ts';

/** Find the run of a call. */
export async function runOf(
  agent: Agent,
  { run, project }: { run: string; project?: string | undefined },
): Promise<Experiment> {
  const name = await agent.projectOf(project);
  return findExperiment(agent.session, await agent.pathBelow(), { project: name, id: run });
}

const pathOf = ({ project_id, experiment_id }: Experiment) => ({ project_id, experiment_id });
const at = 'GET /projects/{project_id}/experiments/{experiment_id}';

async function tail(agent: Agent, experiment: Experiment, lines: number): Promise<string[]> {
  const request = { path: pathOf(experiment), query: { tail: lines } };
  const { rows } = await agent.session.client.page<typeof readLogs>(`${at}/logs`, request);
  return rows.map(({ message }) => message);
}

/** Tools that only read. */
export const readingTools: readonly Tool[] = [
  tool({
    name: 'find_runs',
    description:
      'Find runs of a project, the newest first unless sorted. filter is as in: status = succeeded and metrics.val_loss < 0.1 and params.lr > 0.01.',
    isReadOnly: true,
    input: z.strictObject({
      ...projectInput,
      filter: z.optional(text('Condition on attributes, metrics, params and tags.')),
      sort: z.optional(text('best, or a metric or attribute; with - before it, the highest first.', 300)),
      limit: z.optional(whole('Most runs. Default: 10.', 1, 50)),
      ...longInput,
    }),
    async call({ project, filter, sort, limit = 10, long }, agent) {
      const { project_id, project_name } = await agent.requireProject(project);
      const { rows } = await agent.session.client.page<typeof listExperiments>(
        'GET /projects/{project_id}/experiments',
        {
          path: { project_id },
          query: {
            limit,
            ...(filter !== undefined && { filter }),
            ...(sort !== undefined && { order_by: orderTerm(sort) }),
          },
        },
      );
      return {
        page: agent.page('projects', project_id),
        units: runUnits,
        data: { project: project_id, project_name, runs: rows.map(runRow) },
        ...bytesOf({ long }),
      };
    },
  }),
  tool({
    name: 'get_run',
    description: 'Show a run: status, reason, best value, metrics, params, cost.',
    isReadOnly: true,
    input: z.strictObject({ ...runInput, ...projectInput, ...longInput }),
    async call(input, agent) {
      return { ...runAnswer(agent, await runOf(agent, input)), ...bytesOf(input) };
    },
  }),
  tool({
    name: 'metric_history',
    description:
      'Show the values of a metric by step: the first, the last, and the lowest and highest in between.',
    isReadOnly: true,
    input: z.strictObject({
      ...runInput,
      metric: text('Name of the metric.', 250),
      points: z.optional(whole('Most points. Default: 60.', 6, 500)),
      ...projectInput,
    }),
    async call({ metric, points = 60, ...named }, agent) {
      const experiment = await runOf(agent, named);
      const request = { path: pathOf(experiment), query: { name: [metric], points } };
      const { rows } = await agent.session.client.page<typeof readMetrics>(`${at}/metrics`, request);
      const { page } = runAnswer(agent, experiment);
      return {
        page,
        data: {
          run: experiment.experiment_id,
          metric,
          step_and_value: rows.map(({ step, value }) => [step, value]),
        },
        ...bytesOf({ long: points > 60 }),
      };
    },
  }),
  tool({
    name: 'compare',
    description: 'Compare attributes, params and last metrics of runs, one value per run.',
    isReadOnly: true,
    input: z.strictObject({
      runs: z.optional(list('Two to ten IDs of runs. Default: the two newest.', 2, 10)),
      ...projectInput,
      ...longInput,
    }),
    async call({ runs, project, long }, agent) {
      const named: Experiment[] = [];
      for (const run of runs ?? []) named.push(await runOf(agent, { run, project }));
      const { session } = agent;
      const experiments =
        runs === undefined
          ? await newestTwo(session, await agent.pathBelow(), await agent.projectOf(project))
          : named;
      const data = { ...compareExperiments(experiments), cost: experiments.map(({ cost }) => cost) };
      return {
        page: agent.page('projects', experiments[0]?.project_id ?? ''),
        units: runUnits,
        data,
        ...bytesOf({ long }),
      };
    },
  }),
  tool({
    name: 'log_tail',
    description: 'Show the last lines of the log of a run, or those with a text in it.',
    isReadOnly: true,
    input: z.strictObject({
      ...runInput,
      lines: z.optional(whole('Most lines. Default: 40.', 1, 1000)),
      search: z.optional(text('Text that the lines contain, without case.', 200)),
      ...projectInput,
      ...longInput,
    }),
    async call({ lines = 40, search, long, ...named }, agent) {
      const experiment = await runOf(agent, named);
      const { page } = runAnswer(agent, experiment);
      const matches = async () => {
        const request = { path: pathOf(experiment), query: { search, limit: lines } };
        const { rows } = await agent.session.client.page<typeof readLogs>(`${at}/logs`, request);
        return rows.map(({ message, number = 0 }) => `${number + 1}: ${message}`);
      };
      return {
        page,
        resource: `mps://runs/${experiment.project_id}/${experiment.experiment_id}/log`,
        data: {
          run: experiment.experiment_id,
          status: experiment.status,
          log: search === undefined ? await tail(agent, experiment, lines) : await matches(),
        },
        keepsEnd: true,
        ...bytesOf({ long }),
      };
    },
  }),
  tool({
    name: 'failure',
    description: 'Say why a run failed: the reason with its advice, and the last 60 lines of the log.',
    isReadOnly: true,
    input: z.strictObject({ ...runInput, ...projectInput, ...longInput }),
    async call({ long, ...named }, agent) {
      const experiment = await runOf(agent, named);
      const { status, status_reason, exit_code, signal, warnings, system } = experiment;
      const { page, data: _, ...more } = runAnswer(agent, experiment);
      return {
        ...more,
        page,
        resource: `${more.resource}/log`,
        data: {
          ...{ run: experiment.experiment_id, status, reason: status_reason, exit_code, signal, warnings },
          machine: system?.text,
          log: await tail(agent, experiment, 60),
        },
        keepsEnd: true,
        ...bytesOf({ long }),
      };
    },
  }),
  tool({
    name: 'budget',
    description: "Show what is left of the token's budget, and of the project's month.",
    isReadOnly: true,
    input: z.strictObject({ ...projectInput }),
    async call({ project }, agent) {
      const { scope, budget, charged, expires_at, name } = await agent.readToken();
      const known = await findProject(agent.session, await agent.projectOf(project));
      const month = known && {
        ...(await agent.session.client.call<typeof readProjectBudget>('GET /projects/{project_id}/budget', {
          path: { project_id: known.project_id },
        })),
        project: known.project_id,
      };
      return {
        units: { budget: 'US$', charged: 'US$', left: 'US$', spent: 'US$', reserved: 'US$', amount: 'US$' },
        data: {
          token: {
            ...{ name, rights: scope?.rights, projects: scope?.projects, expires_at, budget },
            charged: budget === null ? undefined : charged,
            left:
              budget === null ? undefined : Math.max(0, Math.round((budget - (charged ?? 0)) * 1e6) / 1e6),
          },
          compute: agent.isPriced ? 'has a price' : 'costs nothing here',
          month,
        },
      };
    },
  }),
];
