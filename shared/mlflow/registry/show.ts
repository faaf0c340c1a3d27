import {
  findModelVersions,
  type ModelVersion,
  type RegisteredModel,
  versionStages,
} from '../../data/models/registered-model.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { invalidValue } from '../protocol/mlflow-error.ts';
import { pairsOf } from '../protocol/scalars.ts';

const aliasesOf = ({ aliases }: RegisteredModel, number: number): string[] =>
  Object.entries(aliases).flatMap(([alias, version]) => (version === number ? [alias] : []));

/** Show a version in MLflow's format. */
export const showVersion = (model: RegisteredModel, version: ModelVersion): object => ({
  name: model.name,
  version: String(version.number),
  creation_timestamp: Date.parse(version.created_at),
  last_updated_timestamp: Date.parse(version.updated_at),
  user_id: version.username,
  current_stage: version.stage,
  description: version.description,
  source: version.source,
  run_id: version.run_id,
  ...(version.run_link !== '' && { run_link: version.run_link }),
  ...(version.model_id !== '' && { model_id: version.model_id }),
  status: 'READY',
  tags: pairsOf(version.tags),
  aliases: aliasesOf(model, version.number),
});

/** Maximum number of keys of one batch read. */
const readAtOnce = 100;

/** Show registered models in MLflow's format, with the newest version of each stage. */
export async function showRegistered(
  { records }: Pick<MlflowContext, 'records'>,
  models: readonly RegisteredModel[],
): Promise<object[]> {
  const wanted = models.flatMap(({ registration_id, latest }) =>
    Object.values(latest).map((number) => ({ registration_id, number })),
  );
  const found = new Map<string, ModelVersion[]>();
  for (let from = 0; from < wanted.length; from += readAtOnce) {
    for (const version of await findModelVersions(records, wanted.slice(from, from + readAtOnce)))
      found.set(version.registration_id, [...(found.get(version.registration_id) ?? []), version]);
  }
  return models.map((model) => ({
    name: model.name,
    creation_timestamp: Date.parse(model.created_at),
    last_updated_timestamp: Date.parse(model.updated_at),
    description: model.description,
    // Not a field of MLflow, whose clients ignore it. The console needs it to know who may change the model.
    owner_id: model.owner_id,
    latest_versions: (found.get(model.registration_id) ?? []).map((version) => showVersion(model, version)),
    tags: pairsOf(model.tags),
    aliases: Object.entries(model.aliases).map(([alias, version]) => ({ alias, version: String(version) })),
  }));
}

/** Parse the name of a stage, ignoring case. @throws ServiceError `INVALID_PARAMETER_VALUE` */
export function stageOf(name: string): string {
  const stage = versionStages.find((versionStage) => versionStage.toLowerCase() === name.toLowerCase());
  if (stage !== undefined) return stage;
  throw invalidValue(
    'stage',
    name,
    `Invalid Model Version stage: ${name}. Value must be one of ${versionStages.join(', ')}.`,
  );
}
