import type { ObjectWriter } from '../aws/objects.ts';
import { ServiceError } from '../core/service-error.ts';
import {
  emptyModel,
  findModel,
  type Model,
  type ModelOrigin,
  modelObject,
  putModel,
  type ReadyModel,
} from '../data/models/model.ts';
import { isOwnFile, type ModelFile, modelDigest, type PendingFile } from '../data/models/model-file.ts';
import type { ModelLineage } from '../data/models/model-lineage.ts';
import type { TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import { inspectModel } from '../onnx/model/inspect/inspect-model.ts';
import type { ModelSummary } from '../onnx/model/inspect/model-summary.ts';
import { ModelError } from '../onnx/model/model-error.ts';
import { lackingData, requireShapes, type StoredShapes } from './completeness.ts';
import { objectSource } from './object-source.ts';

/**
 * Register files in the bucket as a model. Storage makes the copies. Repeating it, also after a crash at any
 * point, leads to the same model.
 * @throws ModelError if the files are not a complete model, and a 409 problem if the name is taken
 */
export async function registerModel(registrar: Registrar, registration: Registration): Promise<Model> {
  const { records } = registrar;
  const summary = await inspectFiles(registrar, registration);
  const claimed = await claimName(registrar, registration);
  if (claimed.status === 'ready') return claimed;
  const copied = await copyModel(registrar, registration.files, claimed, summary);
  const ready = { ...copied, version: claimed.version + 1 };
  if (await tryWrite(putModel(records, ready, claimed))) return ready;
  // A concurrent attempt finished first, or the model was deleted in between.
  const present = await findModel(records, claimed.model_name);
  if (present?.model_id === claimed.model_id && present.status === 'ready') return present;
  throw new ServiceError('conflict', `Model ${claimed.model_name} was deleted during its registration.`);
}

interface Registrar {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  now(): Date;
  newId(): string;
}

/**
 * A model whose files are already in the bucket, and are copied. `object` of each file is the source of the copy.
 */
interface Registration {
  model_name: string;
  owner: string | null;
  owner_id: string;
  origin: ModelOrigin;
  files: readonly ModelFile[];
  shapes: StoredShapes;
  /** Where an exported model comes from. */
  lineage?: ModelLineage;
}

/**
 * Inspect files in the bucket.
 * @throws ModelError if they are not a complete model, or have other shapes
 */
async function inspectFiles(
  { objects }: Pick<Registrar, 'objects'>,
  { files, shapes }: Pick<Registration, 'files' | 'shapes'>,
): Promise<ModelSummary> {
  const onnx = files.find(({ role }) => role === 'model');
  if (onnx === undefined) throw new ModelError('There is no ONNX file among the files.');
  const summary = await inspectModel(objectSource(objects, onnx.object, onnx.size));
  const lacking = lackingData(summary, files);
  if (lacking.length > 0) throw new ModelError(`External data: ${lacking.join('; ')}.`);
  requireShapes(shapes, summary);
  return summary;
}

/** Claim the name with a draft record, or return the draft or model of an earlier attempt. */
async function claimName(registrar: Registrar, registration: Registration): Promise<Model> {
  const { records, newId } = registrar;
  const { model_name, owner_id, origin, files } = registration;
  const value = draftOf(registrar, registration, newId());
  if (await tryWrite(putModel(records, value, undefined))) return value;
  const present = await findModel(records, model_name);
  const isOurs = present?.owner_id === owner_id && sameOrigin(present.origin, origin);
  if (present === undefined || !isOurs) throw nameTaken(model_name);
  if (present.status === 'ready' && present.digest !== modelDigest(files)) throw nameTaken(model_name);
  return present;
}

/** Create a draft of the model, with the keys of the copies to make. */
function draftOf(
  { now, newId }: Pick<Registrar, 'now' | 'newId'>,
  { model_name, owner, owner_id, origin, files, shapes, lineage }: Registration,
  model_id: string,
): Model {
  const created_at = now().toISOString();
  const pending = files.map(
    ({ role, name, size, sha256 }): PendingFile => ({
      role,
      name,
      size,
      sha256,
      object: modelObject(model_id, newId()),
      parts: null,
    }),
  );
  const empty = emptyModel({ model_id, model_name, owner, owner_id, created_at, version: 1 });
  return { ...empty, origin, pending, shapes: { ...shapes }, ...(lineage !== undefined && { lineage }) };
}

const sameOrigin = (one: ModelOrigin, other: ModelOrigin): boolean =>
  JSON.stringify(one, Object.keys(one).sort()) === JSON.stringify(other, Object.keys(other).sort());

const nameTaken = (model_name: string): ServiceError =>
  new ServiceError(
    'conflict',
    `A model named ${model_name} already exists, and models never change. Delete it first, or choose another name.`,
  );

/** Copy the files of a draft and return its model. @throws ModelError if a required file was deleted */
async function copyModel(
  { objects, now }: Pick<Registrar, 'objects' | 'now'>,
  files: readonly ModelFile[],
  draft: Model,
  summary: ModelSummary,
): Promise<Model> {
  const copied = await copyFiles(objects, files, draft.pending);
  return {
    ...draft,
    status: 'ready',
    digest: modelDigest(copied),
    files: copied,
    pending: [],
    summary,
    updated_at: now().toISOString(),
  };
}

async function copyFiles(
  objects: ObjectWriter,
  files: readonly ModelFile[],
  pending: readonly PendingFile[],
): Promise<ModelFile[]> {
  const copied: ModelFile[] = [];
  for (const target of pending) {
    const source = files.find(({ role, name }) => role === target.role && name === target.name);
    const isThere = source !== undefined && (await objects.copy(source.object, target.object));
    if (isThere) copied.push({ ...source, object: target.object });
    else if (isOwnFile(target)) throw new ModelError(`${target.name} was deleted before it could be copied.`);
  }
  return copied;
}

/** Result of a compression. */
export interface CompressionResult {
  /** Name of the new model. */
  result_name: string;
  /**
   * Also the id of the new model. If the compression ends without the model, objects under this id belong to nothing.
   */
  strategy_id: string;
  /** Owner of the compression and of the new model. */
  owner: string | null;
  owner_id: string;
  /** The model that the compression started from. */
  source: Pick<ReadyModel, 'model_name' | 'files' | 'shapes'>;
  /** The ONNX file and its external data, if any, with their keys in the bucket. */
  files: readonly ModelFile[];
}

/**
 * Copy the result of a compression to the keys of a new model, so that compressions can be chained, and return that
 * model. The transaction that ends the compression records it. The model takes over the stored shapes, and the
 * remaining sets, labels and files of preprocessing of the source model.
 * @throws ModelError if the files are not a model; ServiceError `conflict` if the name is taken
 */
export async function modelOfResult(
  registrar: Registrar,
  { result_name, strategy_id, owner, owner_id, source, files: made }: CompressionResult,
): Promise<Model> {
  if ((await findModel(registrar.records, result_name)) !== undefined) throw nameTaken(result_name);
  const others = source.files.filter(({ role }) => role !== 'model' && role !== 'data');
  const registration = {
    model_name: result_name,
    owner,
    owner_id,
    origin: { kind: 'strategy' as const, strategy_id, model_name: source.model_name },
    files: [...made, ...others],
    shapes: source.shapes,
  };
  const summary = await inspectFiles(registrar, registration);
  const draft = draftOf(registrar, registration, strategy_id);
  return copyModel(registrar, registration.files, draft, summary);
}
