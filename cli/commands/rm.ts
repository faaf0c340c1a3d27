import { buildCommand } from '@stricli/core';
import type { endpoint as deleteExperiment } from '../../functions/experiments/delete-experiment.endpoint.ts';
import { bytesText } from '../../shared/core/bytes-text.ts';
import type { CliContext } from '../context.ts';
import { namedExperiment } from '../experiments/find-experiment.ts';
import { agree } from '../output/agree.ts';
import { experimentIdOf } from './arguments.ts';
import { json, project, verbose, yes } from './flags.ts';

interface Flags {
  yes?: boolean;
  project?: string;
  json?: boolean;
  verbose?: boolean;
}

async function rm(
  this: CliContext,
  { yes: isSure, project: given, json: isJson }: Flags,
  ...ids: string[]
): Promise<void> {
  for (const id of ids) {
    const { session, path, experiment } = await namedExperiment(this, given, id);
    const { experiment_id } = path;
    const question = `Delete ${experiment_id} (${experiment.name}, ${experiment.artifacts} files)?`;
    if (!isSure) await agree(this, question, 'Nothing was deleted.');
    const route = 'DELETE /projects/{project_id}/experiments/{experiment_id}';
    const removed = await session.client.call<typeof deleteExperiment>(route, { path });
    if (isJson) this.printer.json(removed);
    else this.printer.say(`Deleted ${experiment_id}: ${bytesText(removed.deleted.bytes)} freed.`);
  }
}

export const rmCommand = buildCommand({
  func: rm,
  parameters: {
    positional: {
      kind: 'array',
      parameter: experimentIdOf('Experiments to delete'),
      minimum: 1,
    },
    flags: {
      yes,
      project,
      json,
      verbose,
    },
    aliases: { y: 'yes', p: 'project' },
  },
  docs: {
    brief: 'Delete experiments that have ended, with all they left',
    fullDescription: 'Example:\n  mps rm 4k8f --yes',
  },
});
