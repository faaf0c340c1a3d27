import { basename, resolve } from 'node:path';
import * as z from 'zod/mini';
import type { endpoint as estimateTraining } from '../../functions/projects/training/estimate-training.endpoint.ts';
import type { endpoint as rerunExperiment } from '../../functions/projects/training/rerun-experiment.endpoint.ts';
import { parseCommand } from '../../shared/command/parse-command.ts';
import { CliError } from '../cli-error.ts';
import { replacedValues } from '../commands/experiments/rerun.ts';
import { trackedQuery } from '../commands/flags.ts';
import type { Experiment } from '../experiments/experiment.ts';
import { parseOverride } from '../run/override-config.ts';
import type { Place, RunOptions } from '../run/plan-folder.ts';
import { ruleFlag } from '../run/rule-flag.ts';
import { runFolder } from '../run/run-folder.ts';
import { beginSweep, type Sweep } from '../sweeps/begin-sweep.ts';
import { parseSwept } from '../sweeps/swept-value.ts';
import type { Agent } from './agent.ts';
import { runOf } from './reading-tools.ts';
import { runAnswer, runRow, runUnits, sweepAnswer } from './run-facts.ts';
import {
  choice,
  flag,
  list,
  number,
  projectInput,
  runInput,
  sizeInput,
  spendInput,
  type Tool,
  text,
  tool,
  whole,
} from './tool.ts';

const folderInput = {
  folder: z.optional(
    text('Folder to train, relative to the one that mps mcp was started in. Default: that one.'),
  ),
  command: z.optional(text('Command, such as python train.py. Default: as mps run chooses it.', 4000)),
};
const trackedInput = {
  name: z.optional(text('Name of the run.', 200)),
  note: z.optional(text('Note in Markdown: what you try, and why.', 4000)),
};

/** Drop what a call left out. */
const present = <T extends object>(input: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as never;

/** The budget of what begins. Where nothing has a price, none can be kept and none is needed. */
export const budgetOf = (agent: Agent, max_usd: number) => (agent.isPriced ? { budget: max_usd } : {});

/** Read `NAME=VALUE` as on the command line. @throws CliError */
function parsed<T>(values: readonly string[] | undefined, parse: (text: string) => T): T[] {
  return (values ?? []).map((value) => {
    try {
      return parse(value);
    } catch (error) {
      throw new CliError(`set "${value}": ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

interface FolderInput extends Partial<Pick<RunOptions, 'vcpus' | 'memory' | 'gpus' | 'nodes' | 'timeout'>> {
  folder?: string | undefined;
  command?: string | undefined;
  project?: string | undefined;
  dataset?: string | undefined;
}

/** Return the options of a training of a folder, and where it is. */
async function planned(
  agent: Agent,
  {
    folder: below,
    command,
    project,
    ...sizes
  }: { [Name in keyof FolderInput]: FolderInput[Name] | undefined },
  signal: AbortSignal,
): Promise<{ options: Omit<RunOptions, 'overrides'>; place: Place & { onSubmit(): void } }> {
  const folder = await agent.trainedFolder(below);
  const named = await agent.namedProject(project, folder);
  return {
    options: {
      ...present(sizes),
      ...(named !== undefined && { project: named }),
      words: command === undefined ? [] : parseCommand(command),
      yes: true,
    },
    place: {
      folder,
      name: basename(folder) || 'project',
      printer: agent.printer,
      signal,
      onSubmit: () => {},
    },
  };
}

/** Answer to a call that began a run. */
const begunRun = (agent: Agent, max_usd: number) => (experiment: Experiment) => {
  const { page } = runAnswer(agent, experiment);
  const { params: _, best: __, ...row } = runRow(experiment);
  return {
    page,
    units: runUnits,
    data: { ...row, project: experiment.project_id, max_usd, command: experiment.command },
  };
};

/** Tools that begin trainings, and say before what they cost. */
export const trainingTools: readonly Tool[] = [
  tool({
    name: 'estimate',
    description:
      'Say what a run of this size costs at most, up to its timeout, and many of them. Begins nothing.',
    isReadOnly: true,
    input: z.strictObject({
      ...projectInput,
      ...sizeInput,
      runs: z.optional(whole('Number of runs, such as the trials of a sweep. Default: 1.', 1, 100_000)),
    }),
    async call({ project, runs = 1, ...sizes }, agent) {
      const { project_id } = await agent.requireProject(project);
      const { client } = agent.session;
      const route = 'GET /projects/{project_id}/train/estimate';
      const { cost_estimate, ...size } = await client.call<typeof estimateTraining>(route, {
        path: { project_id },
        query: present(sizes),
      });
      const all = cost_estimate === null ? null : cost_estimate * runs;
      return {
        units: { each: 'US$ at most', all: 'US$ at most', timeout: 's', memory: 'MiB' },
        data: {
          each: cost_estimate,
          all,
          runs,
          ...size,
          ...(cost_estimate === null && { note: 'compute costs nothing here' }),
        },
      };
    },
  }),
  tool({
    name: 'run',
    description: 'Upload the folder and train it. Returns at once: call wait for the end.',
    spends: true,
    input: z.strictObject({
      ...spendInput,
      ...folderInput,
      set: z.optional(
        list(
          'Values that differ, such as optimizer.lr=0.01 of the configuration, or --lr=0.01 of the command.',
          1,
          100,
        ),
      ),
      ...projectInput,
      ...trackedInput,
      ...sizeInput,
      dataset: z.optional(text('Name of a data set. Default: that of the training before.', 200)),
      stop_if: z.optional(list('Rules that stop it, such as nan: loss.', 1, 20)),
    }),
    async call(input, agent, signal) {
      const { max_usd, idempotency_key: key, set, name, note, stop_if, ...rest } = input;
      return agent.ledger.once<Experiment>(
        { tool: 'run', key, input },
        {
          async begin(session) {
            const { options, place } = await planned(agent, rest, signal);
            const said = trackedQuery({ name, note });
            const rules = stop_if === undefined ? {} : { stopIf: parsed(stop_if, ruleFlag('stop')) };
            const overrides = parsed(set, parseOverride);
            return runFolder(
              session,
              { ...options, overrides, said, ...rules, ...budgetOf(agent, max_usd) },
              place,
            );
          },
          show: begunRun(agent, max_usd),
        },
      );
    },
  }),
  tool({
    name: 'rerun',
    description:
      'Train an earlier run again with its source, data and configuration, and other values. Goes on from its checkpoints unless fresh.',
    spends: true,
    input: z.strictObject({
      ...runInput,
      ...spendInput,
      set: z.optional(list('Single values that differ, such as lr=0.003 or --lr=0.003.', 1, 100)),
      command: z.optional(text('Another command.', 4000)),
      fresh: z.optional(flag('Whether to begin without the checkpoints.')),
      ...projectInput,
      ...trackedInput,
      ...sizeInput,
    }),
    async call(input, agent) {
      const { run, project, max_usd, idempotency_key: key, set, name, note, ...rest } = input;
      return agent.ledger.once<Experiment>(
        { tool: 'rerun', key, input },
        {
          async begin({ client }) {
            const { project_id, experiment_id } = await runOf(agent, { run, project });
            const overrides = parsed(set, parseOverride);
            const route = 'POST /projects/{project_id}/experiments/{experiment_id}/rerun';
            return client.call<typeof rerunExperiment>(route, {
              path: { project_id, experiment_id },
              query: {
                ...present(rest),
                ...trackedQuery({ name, note }),
                ...(overrides.length > 0 && { overrides: replacedValues(overrides) }),
                ...budgetOf(agent, max_usd),
              },
            });
          },
          show: begunRun(agent, max_usd),
        },
      );
    },
  }),
  tool({
    name: 'sweep',
    description:
      'Try many settings of the folder, and rank them by a metric. Ends by itself, and pauses when max_usd is used up. Returns at once: call wait for the end.',
    spends: true,
    input: z.strictObject({
      ...spendInput,
      ...folderInput,
      set: z.optional(
        list(
          'What varies: lr=1e-4..1e-1:log, batch=16..128:16 (steps), depth=2,4,8; epochs=5 sets a value for all.',
          1,
          50,
        ),
      ),
      file: z.optional(text('A file such as sweep.yaml in the folder, in place of set.')),
      trials: z.optional(whole('Number of configurations to try.', 1, 100_000)),
      parallel: z.optional(whole('Most trainings at once.', 1, 1000)),
      method: z.optional(choice(['grid', 'random', 'sobol', 'tpe'], 'Default: tpe.')),
      metric: z.optional(text('Metric that ranks the trials.', 250)),
      goal: z.optional(choice(['minimize', 'maximize'], 'Default: as usual for the metric.')),
      stop: z.optional(choice(['asha', 'median'], 'Ends bad trials early.')),
      target: z.optional(number('Value of the metric at which the sweep ends.')),
      seed: z.optional(whole('Seed of the values.', 0, 2 ** 32 - 1)),
      name: z.optional(text('Name of the sweep.', 200)),
      ...projectInput,
      ...sizeInput,
      dataset: z.optional(text('Name of a data set. Default: that of the training before.', 200)),
    }),
    async call(input, agent, signal) {
      const {
        max_usd,
        idempotency_key: key,
        set,
        file,
        trials,
        parallel,
        method,
        metric,
        goal,
        ...more
      } = input;
      const { stop, target, seed, name, ...rest } = more;
      return agent.ledger.once<Sweep>(
        { tool: 'sweep', key, input },
        {
          async begin(session) {
            if ((set === undefined) === (file === undefined))
              throw new CliError('Give set with what varies, or a file such as sweep.yaml: one of the two.');
            const { options, place } = await planned(agent, rest, signal);
            const fields = {
              ...{ trials, parallel, method, metric, goal, seed, name },
              ...(stop !== undefined && { stop: { rule: stop } }),
              ...(target !== undefined && { until: { metric: target } }),
              ...budgetOf(agent, max_usd),
            };
            const swept = parsed(set, parseSwept);
            if (file !== undefined) await agent.pathBelow(resolve(place.folder, file));
            return beginSweep(session, { ...options, file, swept, fields }, place);
          },
          show(sweep) {
            const { page, units = {} } = sweepAnswer(agent, sweep);
            const {
              sweep_id,
              project_id,
              name: named,
              status,
              trials: count,
              estimate,
              metric: by,
              goal: to,
            } = sweep;
            const facts = { sweep: sweep_id, project: project_id, name: named, status, trials: count };
            return { page, units, data: { ...facts, metric: by, goal: to, estimate, max_usd } };
          },
        },
      );
    },
  }),
];
