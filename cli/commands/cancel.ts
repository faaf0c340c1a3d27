import { buildCommand } from '@stricli/core';
import type { endpoint as cancelExperiment } from '../../functions/experiments/cancel-experiment.endpoint.ts';
import type { CliContext } from '../context.ts';
import { namedExperiment } from '../experiments/find-experiment.ts';
import { experimentIdOf } from './arguments.ts';
import { json, project, verbose } from './flags.ts';

interface Flags {
  project?: string;
  json?: boolean;
  verbose?: boolean;
}

async function cancel(
  this: CliContext,
  { project: given, json: isJson }: Flags,
  ...ids: string[]
): Promise<void> {
  for (const id of ids) {
    const { session, path } = await namedExperiment(this, given, id);
    const route = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
    const cancelled = await session.client.call<typeof cancelExperiment>(route, { path });
    if (isJson) this.printer.json(cancelled);
    else this.printer.say(`${path.experiment_id} ${cancelled.status}`);
  }
}

export const cancelCommand = buildCommand({
  func: cancel,
  parameters: {
    positional: {
      kind: 'array',
      parameter: experimentIdOf('Experiments to cancel'),
      minimum: 1,
    },
    flags: { project, json, verbose },
    aliases: { p: 'project' },
  },
  docs: {
    brief: 'Cancel experiments; logs, metrics and artifacts are kept',
    fullDescription: 'Examples:\n  mps cancel latest\n  mps cancel 4k8f',
  },
});
