import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { type Config, findConfig, listConfigs } from '../../../shared/data/projects/config.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** Latest experiments among which a training is looked for. */
const lookedAt = 100;
/** How many choices a refusal names. */
const maxNamed = 20;

/**
 * The configuration to train with: the one that is named, else the project's only one, else the one last trained.
 * Throws a 409 naming the choices where none of these is there.
 */
export async function chooseConfig(
  records: TableReader<'records'>,
  project_id: string,
  named: string | undefined,
): Promise<Config> {
  if (named !== undefined) {
    const config = await findConfig(records, project_id, named);
    if (config === undefined) throw notFound('config', named);
    return config;
  }
  const { items, next } = await listConfigs(records, project_id, { limit: maxNamed, after: undefined });
  const [only] = items;
  if (only === undefined) throw new ServiceError('conflict', 'The project has no configuration yet.');
  if (items.length === 1) return only;
  const latest = await listExperiments(records, project_id, { limit: lookedAt });
  const trained = latest.items.find((one) => one.config_id !== null)?.config_id ?? undefined;
  const last = trained && (await findConfig(records, project_id, trained));
  if (last) return last;
  const choices = items.map(({ config_id }) => config_id).join(', ');
  throw new ServiceError(
    'conflict',
    `Say which configuration with config=…: ${choices}${next === undefined ? '' : ', …'}`,
  );
}
