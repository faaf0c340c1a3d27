import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';

const registeredModel = recordType('registered-model', () =>
  z.object({
    /** Id in the keys of its versions. A later model of the same name has another id. */
    registration_id: Ulid,
    name: z.string(),
    /** Its name in the imported archive, if another model already had that name. Absent otherwise. */
    archived_name: z.string().optional(),
    description: z.string(),
    owner_id: Ulid,
    tags: texts,
    /** Version numbers by alias. */
    aliases: z.record(z.string(), z.number().int()),
    /** Number of the newest version in each stage. */
    latest: z.record(z.string(), z.number().int()),
    /** Number of versions ever created. */
    versions: z.number().int(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);

/** Registered model of MLflow's model registry, which has versions. */
export type RegisteredModel = z.infer<typeof registeredModel.schema>;

const texts = z.record(z.string(), z.string());

export const parseRegisteredModel = registeredModel.parse;

const modelVersion = recordType('model-version', () =>
  z.object({
    registration_id: Ulid,
    number: z.number().int(),
    description: z.string(),
    user_id: Ulid,
    username: z.string(),
    /** Source as named by the client. `location` is the address of its files. */
    source: z.string(),
    location: z.string(),
    /** MLflow's id of its run. Empty if it has none. The same holds for `model_id`, the id of its logged model. */
    run_id: z.string(),
    run_link: z.string(),
    model_id: z.string(),
    stage: z.string(),
    tags: texts,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
export type ModelVersion = z.infer<typeof modelVersion.schema>;
export const parseModelVersion = modelVersion.parse;

/** Partition of all registered models, by name. */
export const registeredModels = 'REGISTERED_MODELS';
/**
 * Partition of the versions of all models. The versions of a model are adjacent, and one query reads versions of
 * many models.
 */
export const modelVersions = 'MODEL_VERSIONS';

export const versionsPrefix = (registration_id: string): string => `${registration_id}#`;

export const findRegisteredModel = (records: Records, name: string): Promise<RegisteredModel | undefined> =>
  registeredModel.find(records, modelKey(name));

type Records = TableReader<'records'>;

const modelKey = (name: string): Key => ({ pk: registeredModels, sk: name });

/** Return a page of registered models, by name. */
export async function listRegisteredModels(
  records: Records,
  page: { after?: string | undefined },
): Promise<Page<RegisteredModel>> {
  return readPage(await records.query({ pk: registeredModels, ...page }), registeredModel.parse);
}

export const putRegisteredModel = (value: RegisteredModel, previous: RegisteredModel | undefined): Write => ({
  put: registeredModel.item(modelKey(value.name), value),
  if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
});

export const removeRegisteredModel = ({ name, version }: RegisteredModel): Write => ({
  delete: modelKey(name),
  if: { equals: { version } },
});

export const findModelVersion = (
  records: Records,
  registration_id: string,
  number: number,
): Promise<ModelVersion | undefined> => modelVersion.find(records, versionKey(registration_id, number));

const versionKey = (registration_id: string, number: number): Key => ({
  pk: modelVersions,
  sk: `${versionsPrefix(registration_id)}${String(number).padStart(10, '0')}`,
});

/** Return the existing versions of these ids. At most 100. */
export async function findModelVersions(
  records: Records,
  ids: readonly { registration_id: string; number: number }[],
): Promise<ModelVersion[]> {
  if (ids.length === 0) return [];
  const items = await records.batchGet(
    ids.map(({ registration_id, number }) => versionKey(registration_id, number)),
  );
  const found = items.filter((item) => item !== undefined);
  return readPage({ items: found, next: undefined }, modelVersion.parse).items;
}

/** Return a page of the versions of a model. Without a model, return versions of all models. */
export async function listModelVersions(
  records: Records,
  registration_id: string | undefined,
  page: { after?: string | undefined },
): Promise<Page<ModelVersion>> {
  const prefix = registration_id === undefined ? {} : { prefix: versionsPrefix(registration_id) };
  return readPage(await records.query({ pk: modelVersions, ...prefix, ...page }), modelVersion.parse);
}

export const putModelVersion = (value: ModelVersion, previous: ModelVersion | undefined): Write => ({
  put: modelVersion.item(versionKey(value.registration_id, value.number), value),
  if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
});

export const removeModelVersion = ({ registration_id, number, version }: ModelVersion): Write => ({
  delete: versionKey(registration_id, number),
  if: { equals: { version } },
});

/** Stages of versions, for MLflow clients before 2.9. */
export const versionStages = ['None', 'Staging', 'Production', 'Archived'] as const;
export const noStage = 'None';
export const archived = 'Archived';

/** Return the newest version of each stage. */
export function latestOf(
  versions: readonly Pick<ModelVersion, 'stage' | 'number'>[],
): Record<string, number> {
  const latest = new Map<string, number>();
  for (const { stage, number } of versions) latest.set(stage, Math.max(number, latest.get(stage) ?? 0));
  return Object.fromEntries(latest);
}
