import { buildCommand } from '@stricli/core';
import type { endpoint as listExperiments } from '../../functions/experiments/list-experiments.endpoint.ts';
import type { CliContext } from '../context.ts';
import type { Experiment } from '../follow/follow-experiment.ts';
import { connect } from '../login/connect.ts';
import { numberText, secondsText } from '../output/units.ts';
import { requireProject } from '../projects/find-project.ts';
import { json, project, verbose } from './flags.ts';

interface Flags {
  limit?: number;
  project?: string;
  json?: boolean;
  verbose?: boolean;
}

function limit(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error('must be a whole number from 1 on');
  return count;
}

const row = ({ experiment_id, name, status, created_at, duration, best }: Experiment): string[] => [
  experiment_id,
  name,
  status,
  created_at.slice(0, 16).replace('T', ' '),
  duration === null ? '' : secondsText(duration),
  best === null ? '' : `${best.criterion} ${numberText(best.value)}`,
];

async function ls(
  this: CliContext,
  { limit: most = 50, project: given, json: isJson }: Flags,
): Promise<void> {
  const session = await connect(this.env);
  const { project_id } = await requireProject(session, this.folder, given);
  const experiments: Experiment[] = [];
  const rows = session.client.rows<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: Math.min(most, 1000) },
  });
  for await (const experiment of rows) {
    // A line each, so that scripts need not wait for the last.
    if (isJson) this.process.stdout.write(`${JSON.stringify(experiment)}\n`);
    experiments.push(experiment);
    if (experiments.length === most) break;
  }
  if (!isJson)
    this.printer.table(['EXPERIMENT', 'NAME', 'STATUS', 'CREATED', 'TIME', 'BEST'], experiments.map(row));
}

export const lsCommand = buildCommand({
  func: ls,
  parameters: {
    flags: {
      limit: {
        kind: 'parsed',
        parse: limit,
        placeholder: 'N',
        brief: 'Most experiments (50)',
        optional: true,
      },
      project,
      json,
      verbose,
    },
    aliases: { n: 'limit', p: 'project' },
  },
  docs: {
    brief: 'List the experiments of a project, newest first',
    fullDescription:
      'With --json a line for each experiment.\n\nExamples:\n  mps ls\n  mps ls -p digits --json',
  },
});
