import * as z from 'zod';
import { FileId, Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { notFound, ServiceError } from '../../core/service-error.ts';
import { ownedList } from '../lists/owned-list.ts';
import type { PurgeTarget } from '../projects/purge.ts';
import { ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import {
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { ModelFile, PendingFile } from './model-file.ts';
import { ModelLineage } from './model-lineage.ts';

const model = recordType('model', () =>
  z.object({
    /** Id in the keys of its bucket objects. A later model of the same name has another id. */
    model_id: Ulid,
    model_name: FileId,
    /** Name of its owner. Null once that user is deleted. */
    owner: z.string().nullable(),
    owner_id: Ulid,
    /** `uploading` until the ONNX file and all its external data are accepted. They never change afterwards. */
    status: z.enum(['uploading', 'ready']),
    origin: ModelOrigin,
    /** Digest of the ONNX file with its external data, from `modelDigest`. Null while uploading. */
    digest: Sha256.nullable(),
    files: z.array(ModelFile),
    pending: z.array(PendingFile),
    /** Shapes stored with the model, in the grammar of `shared/onnx/model/inspect`. */
    shapes: z.object({ inputs: z.string().nullable(), outputs: z.string().nullable() }),
    /** Null while uploading. */
    summary: summarySchema().nullable(),
    /** Where an exported model comes from. Absent for others. */
    lineage: ModelLineage.optional(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);

/** Model. Its name is unique in the deployment. */
export type Model = z.infer<typeof model.schema>;

/** Origin of a model. */
export const ModelOrigin = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('upload') }),
  z.object({
    kind: z.literal('artifact'),
    project_id: Ulid,
    experiment_id: Ulid,
    path: z.string(),
  }),
  z.object({ kind: z.literal('strategy'), strategy_id: Ulid, model_name: FileId }),
]);
export type ModelOrigin = z.infer<typeof ModelOrigin>;

/** Result of a model's inspection, like `ModelSummary` of the inspection. */
const summarySchema = () =>
  z.object({
    ir_version: z.number().int(),
    producer: z.string(),
    opsets: z.record(z.string(), z.number()),
    inputs: z.array(TensorSummary),
    // Models of earlier releases lack it.
    defaulted_inputs: z.array(z.string()).prefault([]),
    outputs: z.array(TensorSummary),
    operators: z.record(z.string(), z.number()),
    nodes: z.number().int(),
    initializers: z.number().int(),
    parameters: z.number(),
    initializer_bytes: z.number(),
    external_files: z.array(z.string()),
    external_bytes: z.record(z.string(), z.number()),
    has_control_flow: z.boolean(),
    functions: z.number().int(),
  });

/** Input or output of a model. */
export const TensorSummary = z
  .object({
    name: z.string(),
    type: z.string(),
    shape: z.array(z.union([z.number(), z.string(), z.null()])).nullable(),
  })
  .meta({ id: 'Tensor' });

/** Model that can be pruned and quantized. */
export type ReadyModel = Model & {
  status: 'ready';
  digest: string;
  summary: NonNullable<Model['summary']>;
};

const modelKey = (model_name: string): Key => ({ pk: partition, sk: model_name });

const partition = 'MODELS';

/** Models of each user. */
export const ownedModels = ownedList('OWNED_MODELS', modelKey);

/** Return the bucket prefix of all objects of a model. */
export const modelPrefix = (model_id: string): string => `models/${model_id}/`;
/** Return the bucket key of a new file of a model. */
export const modelObject = (model_id: string, file_id: string): string =>
  `${modelPrefix(model_id)}${file_id}`;

export const parseModel = model.parse;

/** Return a model without files, before its upload. */
export const emptyModel = (
  known: Pick<Model, 'model_id' | 'model_name' | 'owner' | 'owner_id' | 'created_at' | 'version'>,
): Model => ({
  ...known,
  status: 'uploading',
  origin: { kind: 'upload' },
  digest: null,
  files: [],
  pending: [],
  shapes: { inputs: null, outputs: null },
  summary: null,
  updated_at: known.created_at,
});

export const findModel = (records: Records, model_name: string): Promise<Model | undefined> =>
  model.find(records, modelKey(model_name));

type Records = TableReader<'records'>;

/**
 * Return the model for its removal, even if it is unreadable. An unreadable model has no owner unless its record
 * names one.
 */
export async function findModelToRemove(records: Records, model_name: string): Promise<Model | undefined> {
  const item = await records.get(modelKey(model_name));
  const unreadable = '';
  const owner = { owner: null, owner_id: unreadable };
  const version = unreadableVersion;
  const empty = emptyModel({ model_id: unreadable, model_name, ...owner, created_at: unreadable, version });
  return item && model.salvage(item, empty);
}

/** Return the model. @throws ServiceError `not-found` if it does not exist */
export async function requireModel(records: Records, model_name: string): Promise<Model> {
  const found = await findModel(records, model_name);
  if (found === undefined) throw notFound('model', model_name);
  return found;
}

/**
 * Return the model, which must be ready. @throws ServiceError `not-found` if it does not exist, and `conflict`
 * while it is being uploaded
 */
export async function requireReadyModel(records: Records, model_name: string): Promise<ReadyModel> {
  const found = await requireModel(records, model_name);
  if (isReady(found)) return found;
  throw new ServiceError(
    'conflict',
    `Model ${model_name} is still being uploaded. Send all its files, then make it ready with PUT /optimization/models/${model_name}.`,
  );
}

function isReady(value: Model): value is ReadyModel {
  return value.status === 'ready' && value.digest !== null && value.summary !== null;
}

/** Return a page of models, by name. */
export async function listModels(
  records: Records,
  page: { limit: number; after: string | undefined },
): Promise<Page<Model>> {
  return readPage(await records.query({ pk: partition, ...page }), model.parse);
}

/** Build the check that this model exists, in any version. */
export const modelExists = ({ model_name, model_id }: Pick<Model, 'model_name' | 'model_id'>): Write => ({
  check: modelKey(model_name),
  if: { equals: { model_id } },
});

/** Build the check that this model exists in this version. */
export const sameModel = ({ model_name, model_id, version }: Model): Write => ({
  check: modelKey(model_name),
  if: { equals: { model_id, version } },
});

/**
 * Build the writes that store a model or its next version. The first write fails in the cases in which {@link
 * putModel} throws.
 */
export const modelWrites = (value: Model, previous: Model | undefined): Write[] => [
  {
    put: model.item(modelKey(value.model_name), value),
    if:
      previous === undefined
        ? { exists: false }
        : { equals: { model_id: previous.model_id, version: previous.version } },
  },
  ...(previous === undefined ? [ownedModels.add(value.owner_id, value.model_name)] : []),
];

/**
 * Store a model or its next version. `also` are further writes of the same transaction.
 * @throws ConditionFailedError if the name is taken, or another version or the model's delete came between
 */
export async function putModel(
  records: TableWriter<'records'>,
  value: Model,
  previous: Model | undefined,
  also: readonly Write[] = [],
): Promise<void> {
  await records.write(...modelWrites(value, previous), ...also);
}

/** Build the writes that delete a model of this version. A purge removes its objects afterwards. */
export const removeModel = ({ model_name, owner_id, version }: Model): Write[] => [
  { delete: modelKey(model_name), if: ofVersion(version) },
  ownedModels.remove(owner_id, model_name),
];

/** Return the data to purge after the delete of a model. */
export const modelRemains = ({ model_id }: Pick<Model, 'model_id'>): PurgeTarget => ({
  partitions: [],
  // An unreadable id identifies no objects.
  prefixes: model_id === '' ? [] : [modelPrefix(model_id)],
});
