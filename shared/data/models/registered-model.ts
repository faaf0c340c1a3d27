import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';

const registeredModel = recordType('registered-model', () =>
  z.object({
    /** Names its versions; a later model of the same name has another one. */
    registration_id: Ulid,
    name: z.string(),
    /** Name that it has in an archive, where another model had that name when it was imported; absent otherwise. */
    archived_name: z.string().optional(),
    description: z.string(),
    owner_id: Ulid,
    tags: texts,
    /** Versions by alias. */
    aliases: z.record(z.string(), z.number().int()),
    /** Newest version of each stage that has one. */
    latest: z.record(z.string(), z.number().int()),
    /** Versions ever made. */
    versions: z.number().int(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);

/** A name of MLflow's model registry, with versions below it. */
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
    /** As its client named it, and where its files are. */
    source: z.string(),
    location: z.string(),
    /** MLflow's ids of the run and of the logged model that it is of; empty where it is of none. */
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
/** Partition of the versions of all models: each model's lie together, and one query reads those of many. */
export const modelVersions = 'MODEL_VERSIONS';

export const versionsPrefix = (registration_id: string): string => `${registration_id}#`;

export async function findRegisteredModel(
  records: Records,
  name: string,
): Promise<RegisteredModel | undefined> {
  const item = await records.get(modelKey(name));
  return item && registeredModel.parse(item);
}

type Records = TableReader<'records'>;

const modelKey = (name: string): Key => ({ pk: registeredModels, sk: name });

/** Registered models by name. */
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

export async function findModelVersion(
  records: Records,
  registration_id: string,
  number: number,
): Promise<ModelVersion | undefined> {
  const item = await records.get(versionKey(registration_id, number));
  return item && modelVersion.parse(item);
}

const versionKey = (registration_id: string, number: number): Key => ({
  pk: modelVersions,
  sk: `${versionsPrefix(registration_id)}${String(number).padStart(10, '0')}`,
});

/** Those of these versions that there are; at most 100. */
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

/** Versions of a model, or of all models where none is given. */
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

/** Stages of versions, which clients before 2.9 use. */
export const versionStages = ['None', 'Staging', 'Production', 'Archived'] as const;
export const noStage = 'None';
export const archived = 'Archived';

/** Newest version of each stage. */
export function latestOf(
  versions: readonly Pick<ModelVersion, 'stage' | 'number'>[],
): Record<string, number> {
  const latest = new Map<string, number>();
  for (const { stage, number } of versions) latest.set(stage, Math.max(number, latest.get(stage) ?? 0));
  return Object.fromEntries(latest);
}
