import * as z from 'zod';
import { FileId, Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import type { PurgeTarget } from '../projects/purge.ts';
import { ofVersion, recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';
import { ImageSettings } from './image-settings.ts';
import { TensorSummary } from './model.ts';
import { TextSettings } from './text-settings.ts';

const serving = recordType('serving', () =>
  z.object({
    model_name: FileId,
    /** Id of the served model. A later model of the same name is not served. */
    model_id: Ulid,
    /** Owner of the model when serving was turned on. */
    owner_id: Ulid,
    /** Project whose training made the model. Null for a model of other origin. */
    project_id: Ulid.nullable(),
    access: ServingAccess,
    /** Requests per second that an instance answers to callers who have not signed in. */
    requests_per_second: z.number().int(),
    /** MiB that the process of a version may take. Null to estimate it by the bytes of each version. */
    memory: z.number().int().nullable(),
    /** Largest first dimension of an input, where the model leaves it free. */
    max_batch: z.number().int(),
    /** Whether an instance loads it when it starts, and removes it last from memory. */
    warm: z.boolean(),
    /** Version or alias that answers requests without a version. */
    default_version: FileId,
    versions: z.record(z.string(), VersionState),
    /** Versions by alias. */
    aliases: z.record(z.string(), z.string()),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);

/** Configuration of a served model. Every request reads it, so it holds no signatures. */
export type Serving = z.infer<typeof serving.schema>;

/**
 * Who may ask a served model: `viewer` every account that may read; `members` its owner, admins and the members of the
 * project that trained it; `anyone` callers without an account, too.
 */
export const ServingAccess = z.enum(['viewer', 'members', 'anyone'], 'must be viewer, members or anyone');
export type ServingAccess = z.infer<typeof ServingAccess>;

/** State of a version of a served model. */
const VersionState = z.object({
  digest: Sha256,
  bytes: z.number().int(),
  /** Crashes and timeouts, each at most an hour after the one before. */
  crashes: z.number().int(),
  crashed_at: Timestamp.nullable(),
  /** Why it was taken out. Null while it answers. */
  withdrawn: z.string().nullable(),
});
export type VersionState = z.infer<typeof VersionState>;

/** Version that is the model itself. */
export const originalVersion = 'original';

export const maxVersions = 20;
export const maxAliases = 100;

export const servingPartition = 'SERVING';

export const servingKey = (model_name: string): Key => ({ pk: servingPartition, sk: model_name });

type Records = TableReader<'records'>;

export const findServing = (records: Records, model_name: string): Promise<Serving | undefined> =>
  serving.find(records, servingKey(model_name));

/** Return the configuration of a served model. @throws ServiceError `not-found` if it is not served */
export async function requireServing(records: Records, model_name: string): Promise<Serving> {
  const found = await findServing(records, model_name);
  if (found === undefined) throw notFound('served model', model_name);
  return found;
}

/** Return a page of the served models, by name. */
export async function listServing(
  records: Records,
  page: { limit: number; after: string | undefined },
): Promise<Page<Serving>> {
  return readPage(await records.query({ pk: servingPartition, ...page }), serving.parse);
}

/** Build the write that stores a configuration, if nothing has changed since `previous`. */
export const putServing = (value: Serving, previous: Serving | undefined): Write => ({
  put: serving.item(servingKey(value.model_name), value),
  if: previous === undefined ? { exists: false } : ofVersion(previous.version),
});

const warmModel = recordType('warm-model', () => z.object({ model_name: FileId }));

export const warmPartition = 'SERVING#WARM';

const warmKey = (model_name: string): Key => ({ pk: warmPartition, sk: model_name });

/** Return the names of the models that a new instance opens. */
export async function listWarm(records: Records): Promise<string[]> {
  const { items } = readPage(await records.query({ pk: warmPartition }), warmModel.parse);
  return items.map(({ model_name }) => model_name);
}

/** Build the write that keeps the list of warm models, if the change of a configuration needs one. */
export function keepWarm(
  { model_name, warm }: Pick<Serving, 'model_name' | 'warm'>,
  previous: Serving | undefined,
): Write[] {
  if (warm === (previous?.warm ?? false)) return [];
  return warm
    ? [{ put: warmModel.item(warmKey(model_name), { model_name }) }]
    : [{ delete: warmKey(model_name) }];
}

/** Build the check that the serving of a model has not changed since it was read. */
export const sameServing = (model_name: string, found: Serving | undefined): Write => ({
  check: servingKey(model_name),
  if: found === undefined ? { exists: false } : ofVersion(found.version),
});

/** Build the write that turns serving off. `found` undefined removes a configuration in any version. */
export const removeServing = (model_name: string, found?: Serving): Write => ({
  delete: servingKey(model_name),
  ...(found !== undefined && { if: ofVersion(found.version) }),
});

/**
 * Return the version that a request means: an alias, a version, or nothing for the default.
 * @returns undefined if the model has no such version
 */
export function resolveVersion(
  { versions, aliases, default_version }: Pick<Serving, 'versions' | 'aliases' | 'default_version'>,
  asked: string = default_version,
): string | undefined {
  const name = Object.hasOwn(aliases, asked) ? aliases[asked] : asked;
  return name !== undefined && Object.hasOwn(versions, name) ? name : undefined;
}

const servedVersion = recordType('served-version', () =>
  z.object({
    model_id: Ulid,
    name: FileId,
    source: VersionSource,
    strategy_id: Ulid.nullable(),
    digest: Sha256,
    bytes: z.number().int(),
    files: z.array(ServedFile),
    /** Names of the classes, one a line, for the classification extension. */
    labels: ServedFile.nullable(),
    inputs: z.array(TensorSummary),
    // Versions of earlier releases lack it.
    defaulted_inputs: z.array(z.string()).prefault([]),
    outputs: z.array(TensorSummary),
    /** How it answers texts. Null for a model without a tokenizer, or one that cannot be asked by texts. */
    texts: TextSettings.nullable().prefault(null),
    /** Why a model with a tokenizer cannot be asked by texts. */
    texts_fault: z.string().nullable().prefault(null),
    /** How it answers pictures. Null for a model without the settings of an image processor. */
    images: ImageSettings.nullable().prefault(null),
    /** Why a model with these settings cannot be asked by pictures. */
    images_fault: z.string().nullable().prefault(null),
    created_at: Timestamp,
  }),
);

/** Version of a served model: its files and its tensors. It never changes. */
export type ServedVersion = z.infer<typeof servedVersion.schema>;

const VersionSource = z.enum(['model', 'prune', 'quantize']);

const ServedFile = z.object({
  name: z.string(),
  size: z.number().int(),
  sha256: Sha256,
  /** Key in the bucket. */
  object: z.string(),
});
export type ServedFile = z.infer<typeof ServedFile>;

/** Partition of the versions and counters of a served model. */
export const servedPartition = (model_id: string): string => `SERVED#${model_id}`;
/** Key patterns of all served models, for the policy of a role. */
export const servingPatterns = [servingPartition, 'SERVED#*'] as const;

const versionPrefix = 'VERSION#';

const versionKey = (model_id: string, name: string): Key => ({
  pk: servedPartition(model_id),
  sk: `${versionPrefix}${name}`,
});

export const findServedVersion = (
  records: Records,
  model_id: string,
  name: string,
): Promise<ServedVersion | undefined> => servedVersion.find(records, versionKey(model_id, name));

export const putServedVersion = (value: ServedVersion): Write => ({
  put: servedVersion.item(versionKey(value.model_id, value.name), value),
});

export const removeServedVersion = (model_id: string, name: string): Write => ({
  delete: versionKey(model_id, name),
});

/** Return the data to purge after the delete of a model. */
export const servedRemains = (model_id: string): PurgeTarget => ({
  partitions: [{ pk: servedPartition(model_id) }],
  prefixes: [],
});
