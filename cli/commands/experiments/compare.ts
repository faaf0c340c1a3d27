import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { differs, valuesByName } from '../../../shared/metrics/compare-values.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import { findExperiment } from '../../experiments/find-experiment.ts';
import { bestText } from '../../experiments/metric-text.ts';
import { connect, type Session } from '../../login/connect.ts';
import { numberText } from '../../output/units.ts';
import { requireProject } from '../../projects/find-project.ts';
import { experimentIdOf } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, project } from '../flags.ts';
import { withUsage } from '../with-usage.ts';

export const compareCommand = withUsage(
  command({
    brief: 'Compare metrics, parameters and attributes of experiments',
    help: 'Examples:\n  mps compare\n  mps compare 4k8f 73wz --all\n  mps compare 4k8f 73wz --json',
    args: [{ ...experimentIdOf('Experiments to compare (default: the two newest)'), several: 0 }],
    flags: { all: choice('Show equal values too'), project, json },
    aliases: { a: 'all', p: 'project' },
    async run({ all, project: given, json: isJson }, ...ids) {
      if (ids.length === 1)
        throw new CliError('Name at least two experiments, or none for the two newest.', exitCodes.usage);
      const session = await connect(this.env);
      const experiments: Experiment[] = ids.length === 0 ? await newestTwo(session, this.folder, given) : [];
      for (const id of ids)
        experiments.push(await findExperiment(session, this.folder, { project: given, id }));
      const comparison = compareExperiments(experiments);
      if (isJson) {
        this.printer.json(comparison);
        return;
      }
      const best = experiments.map((experiment) => bestText(experiment) || '–');
      const rows = (['attributes', 'params', 'metrics'] as const).flatMap((kind) =>
        Object.entries(comparison[kind])
          .filter(([, values]) => all || kind === 'metrics' || differs(values))
          .map(([name, values]) => [
            kind === 'attributes' ? name : `${kind}.${name}`,
            ...values.map(cellText),
          ]),
      );
      this.printer.table(
        ['', ...comparison.experiments.map((id) => id.slice(-8))],
        [...rows.filter(isName), ['best', ...best], ...rows.filter((row) => !isName(row))],
      );
    },
  }),
  '[ID ID...]',
);

const isName = ([attribute]: readonly string[]): boolean => attribute === 'name';

/** Return the two newest experiments of the project, older first. */
export async function newestTwo(
  session: Session,
  folder: string,
  given: string | undefined,
): Promise<Experiment[]> {
  const { project_id } = await requireProject(session, folder, given);
  const route = 'GET /projects/{project_id}/experiments';
  const { rows } = await session.client.page<typeof listExperiments>(route, {
    path: { project_id },
    query: { limit: 2 },
  });
  if (rows.length === 2) return rows.toReversed();
  throw new CliError(
    'The project does not have two experiments yet. Start another with "mps run -S NAME=VALUE".',
  );
}

/** Collect the parameters, last metrics and attributes of experiments for comparison. */
export function compareExperiments(experiments: readonly Experiment[]): Comparison {
  return {
    experiments: experiments.map(({ experiment_id }) => experiment_id),
    best: experiments.map(({ best }) => best),
    params: valuesByName(experiments.map(({ params }) => new Map(Object.entries(params)))),
    metrics: valuesByName(
      experiments.map(
        ({ metrics }) => new Map(Object.entries(metrics).map(([name, { last }]) => [name, last])),
      ),
    ),
    attributes: Object.fromEntries(
      attributes.map((name) => [name, experiments.map((experiment) => experiment[name])]),
    ),
  };
}

interface Comparison {
  experiments: string[];
  /** Best value of each experiment by the project's criterion; null if it has none. */
  best: Experiment['best'][];
  /** Values by name, one for each experiment; null if it has none. */
  params: Record<string, (string | null)[]>;
  /** Last value of each metric; a string for NaN and infinities, which JSON does not have. */
  metrics: Record<string, (number | string | null)[]>;
  attributes: Record<string, (string | number | null)[]>;
}

const attributes = [
  'name',
  'status',
  'outcome',
  'duration',
  'cost',
  'command',
  'config_id',
  'config_sha256',
  'source_sha256',
  'dataset_sha256',
  'lock_hash',
  'nodes',
  'vcpus',
  'memory',
  'gpus',
] as const;

const cellText = (value: string | number | null): string => {
  if (value === null) return '–';
  if (typeof value === 'number') return numberText(value);
  return /^[0-9a-f]{64}$/.test(value) ? value.slice(0, 12) : value;
};
