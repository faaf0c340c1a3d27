import { buildCommand } from '@stricli/core';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { compareExperiments, differs } from '../../experiments/compare-experiments.ts';
import { findExperiment } from '../../experiments/find-experiment.ts';
import type { Experiment } from '../../experiments/follow-experiment.ts';
import { connect, type Session } from '../../login/connect.ts';
import { bestText } from '../../output/metric-text.ts';
import { numberText } from '../../output/units.ts';
import { requireProject } from '../../projects/find-project.ts';
import { experimentIdOf } from '../arguments.ts';
import { json, project, verbose } from '../flags.ts';

interface Flags {
  all?: boolean;
  project?: string;
  json?: boolean;
  verbose?: boolean;
}

/** The two newest experiments of the project, older first. */
async function newestTwo(session: Session, folder: string, given: string | undefined): Promise<Experiment[]> {
  const { project_id } = await requireProject(session, folder, given);
  const route = 'GET /projects/{project_id}/experiments';
  const { rows } = await session.client.page<typeof listExperiments>(route, {
    path: { project_id },
    query: { limit: 2 },
  });
  if (rows.length === 2) return rows.toReversed();
  throw new CliError(
    'The project does not have two experiments yet. Run "mps run -S NAME=VALUE" for another.',
  );
}

const cellText = (value: string | number | null): string => {
  if (value === null) return '–';
  if (typeof value === 'number') return numberText(value);
  return /^[0-9a-f]{64}$/.test(value) ? value.slice(0, 12) : value;
};

async function compare(
  this: CliContext,
  { all, project: given, json: isJson }: Flags,
  ...ids: string[]
): Promise<void> {
  if (ids.length === 1)
    throw new CliError('Name two experiments or more, or none for the two newest.', exitCodes.usage);
  const session = await connect(this.env);
  const experiments: Experiment[] = ids.length === 0 ? await newestTwo(session, this.folder, given) : [];
  for (const id of ids) experiments.push(await findExperiment(session, this.folder, { project: given, id }));
  const comparison = compareExperiments(experiments);
  if (isJson) {
    this.printer.json(comparison);
    return;
  }
  const best = comparison.best.map((one) => (one === null ? '–' : bestText(one)));
  const rows = (['attributes', 'params', 'metrics'] as const).flatMap((kind) =>
    Object.entries(comparison[kind])
      .filter(([, values]) => all || kind === 'metrics' || differs(values))
      .map(([name, values]) => [kind === 'attributes' ? name : `${kind}.${name}`, ...values.map(cellText)]),
  );
  this.printer.table(['', ...comparison.experiments.map((id) => id.slice(-8))], [['best', ...best], ...rows]);
}

export const compareCommand = buildCommand({
  func: compare,
  parameters: {
    positional: {
      kind: 'array',
      parameter: experimentIdOf('Experiments to compare; the two newest without any'),
    },
    flags: {
      all: { kind: 'boolean', brief: 'Show what is equal, too', optional: true, withNegated: false },
      project,
      json,
      verbose,
    },
    aliases: { a: 'all', p: 'project' },
  },
  docs: {
    brief: 'Compare experiments: their metrics, and in what else they differ',
    fullDescription:
      'Examples:\n  mps compare\n  mps compare 4k8f 73wz --all\n  mps compare 4k8f 73wz --json',
  },
});
