import {
  type ModelVersion,
  modelVersions,
  parseModelVersion,
  parseRegisteredModel,
  type RegisteredModel,
  registeredModels,
} from '../../data/models/registered-model.ts';
import type { Item, TableReader } from '../../data/table/table.ts';
import { idsIn } from '../references.ts';
import type { ContainedRegistered } from './export-context.ts';

type Records = TableReader<'records'>;

async function* itemsOf(records: Records, pk: string): AsyncGenerator<Item> {
  let after: string | undefined;
  do {
    const page = await records.query({ pk, after });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

/** Names in the archive: no two are the same, though a model of an archive may have the name of another one there. */
function withNames(models: readonly RegisteredModel[]): [name: string, model: RegisteredModel][] {
  const own = new Set(models.map(({ name }) => name));
  return models
    .map((model): [string, RegisteredModel] => {
      const { name, archived_name = name } = model;
      return [archived_name !== name && own.has(archived_name) ? name : archived_name, model];
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * The registered models with versions that are of one of these experiments or logged models, in the order of their names.
 * The registry belongs to no project, so all of it is looked through; a record that cannot be read counts only where it
 * is one of these.
 * @throws UnreadableRecordError
 */
export async function findRegistered(
  records: Records,
  contained: readonly string[],
): Promise<ContainedRegistered[]> {
  const ids = new Set(contained);
  const isOf = (text: string): boolean => idsIn(text).some((id) => ids.has(id));
  const belongs = ({ run_id, model_id, source, location }: ModelVersion): boolean =>
    [run_id, model_id, source, location].some(isOf);
  const versions = new Map<string, number[]>();
  if (ids.size === 0) return [];
  for await (const item of itemsOf(records, modelVersions)) {
    if (!isOf(JSON.stringify(item))) continue;
    const version = parseModelVersion(item);
    if (!belongs(version)) continue;
    const { registration_id, number } = version;
    versions.set(registration_id, [...(versions.get(registration_id) ?? []), number]);
  }
  if (versions.size === 0) return [];
  const models: RegisteredModel[] = [];
  for await (const item of itemsOf(records, registeredModels))
    if (versions.has(String(item['registration_id']))) models.push(parseRegisteredModel(item));
  return withNames(models).map(([archived_name, { registration_id, name }]) => ({
    registration_id,
    name,
    archived_name,
    versions: versions.get(registration_id) ?? [],
  }));
}
