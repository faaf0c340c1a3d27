import * as z from 'zod/mini';
import type { endpoint as cancelExperiment } from '../../functions/experiments/records/cancel-experiment.endpoint.ts';
import type { endpoint as cancelPrune } from '../../functions/optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import type { endpoint as cancelSweep } from '../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import type { endpoint as readSweep } from '../../functions/projects/sweeps/read-sweep.endpoint.ts';
import { wait } from '../../shared/client/retry.ts';
import { CliError } from '../cli-error.ts';
import type { Agent } from './agent.ts';
import type { ToolAnswer } from './answer-text.ts';
import { compressionOf } from './compression-tools.ts';
import { runOf } from './reading-tools.ts';
import { compressionAnswer, runAnswer, sweepAnswer } from './run-facts.ts';
import { choice, projectInput, type Tool, text, tool, whole } from './tool.ts';

const subject = {
  kind: choice(['run', 'sweep', 'compression'], 'What it is.'),
  id: text('Its ID.', 26),
  ...projectInput,
};

interface Subject {
  kind: 'run' | 'sweep' | 'compression';
  id: string;
  project?: string | undefined;
}

/** Statuses after which nothing happens by itself. A paused sweep needs somebody. */
const ends: readonly string[] = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'COMPLETED', 'PAUSED'];

async function sweepPath(agent: Agent, { id: sweep_id, project }: Subject) {
  if (!/^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(sweep_id))
    throw new CliError(`"${sweep_id}" is not the ID of a sweep: give its 26 characters.`);
  const { project_id } = await agent.requireProject(project);
  return { project_id, sweep_id };
}

/** Return the present state of a run, a sweep or a compression. */
async function stateOf(agent: Agent, named: Subject): Promise<{ status: string; answer: ToolAnswer }> {
  const { kind, id, project } = named;
  if (kind === 'run') {
    const experiment = await runOf(agent, { run: id, project });
    return { status: experiment.status, answer: runAnswer(agent, experiment) };
  }
  if (kind === 'compression') {
    const { operation, compression } = await compressionOf(agent, { compression: id });
    return { status: compression.status, answer: compressionAnswer(agent, operation, compression) };
  }
  const sweep = await agent.session.client.call<typeof readSweep>(
    'GET /projects/{project_id}/sweeps/{sweep_id}',
    {
      path: await sweepPath(agent, named),
    },
  );
  return { status: sweep.status, answer: sweepAnswer(agent, sweep) };
}

const pollMilliseconds = 1_000;

/** Tools about what runs: its end, and an early one. */
export const lifeTools: readonly Tool[] = [
  tool({
    name: 'wait',
    description:
      'Wait for the end of a run, sweep or compression, and show its state. has_ended is false if the seconds were not enough: call it again.',
    isReadOnly: true,
    input: z.strictObject({
      ...subject,
      seconds: z.optional(whole('Longest wait. 0 shows the state at once. Default: 50.', 0, 50)),
    }),
    async call({ seconds = 50, ...named }, agent, signal) {
      const until = Date.now() + seconds * 1000;
      for (;;) {
        const { status, answer } = await stateOf(agent, named);
        const has_ended = ends.includes(status);
        if (has_ended || Date.now() >= until)
          return { ...answer, data: { has_ended, ...(answer.data as object) } };
        await wait(Math.min(pollMilliseconds, Math.max(0, until - Date.now())), signal);
      }
    },
  }),
  tool({
    name: 'stop',
    description: 'Cancel a run, sweep or compression. Its log, metrics and files stay.',
    input: z.strictObject(subject),
    async call(named, agent) {
      const { client } = agent.session;
      const { kind, id, project } = named;
      if (kind === 'run') {
        const { project_id, experiment_id } = await runOf(agent, { run: id, project });
        const route = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
        await client.call<typeof cancelExperiment>(route, { path: { project_id, experiment_id } });
      } else if (kind === 'sweep') {
        const route = 'POST /projects/{project_id}/sweeps/{sweep_id}/cancel';
        await client.call<typeof cancelSweep>(route, { path: await sweepPath(agent, named) });
      } else {
        const { operation, compression } = await compressionOf(agent, { compression: id });
        const route = `POST /optimization/${operation}/strategies/{strategy_id}/cancel` as const;
        await client.call<typeof cancelPrune>(route, { path: { strategy_id: compression.strategy_id } });
      }
      return (await stateOf(agent, named)).answer;
    },
  }),
];
