import type { ObjectWriter } from '../aws/objects.ts';
import { ServiceError } from '../core/service-error.ts';
import {
  emptyModel,
  findModel,
  type Model,
  type ModelOrigin,
  modelObject,
  putModel,
} from '../data/models/model.ts';
import { type ModelFile, modelDigest, type PendingFile } from '../data/models/model-file.ts';
import type { TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import { inspectModel } from '../onnx/model/inspect/inspect-model.ts';
import type { ModelSummary } from '../onnx/model/inspect/model-summary.ts';
import { ModelError } from '../onnx/model/model-error.ts';
import { lackingData, requireShapes, type StoredShapes } from './completeness.ts';
import { objectSource } from './object-source.ts';

export interface Registrar {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  now(): Date;
  newId(): string;
}

/** A model whose files lie in the bucket already, and are copied. `object` of each is where it is copied from. */
export interface Registration {
  model_name: string;
  owner: string | null;
  owner_id: string;
  origin: ModelOrigin;
  files: readonly ModelFile[];
  shapes: StoredShapes;
}

const sameOrigin = (one: ModelOrigin, other: ModelOrigin): boolean =>
  JSON.stringify(one, Object.keys(one).sort()) === JSON.stringify(other, Object.keys(other).sort());

export const nameTaken = (model_name: string): ServiceError =>
  new ServiceError(
    'conflict',
    `There is a model ${model_name} already, and models never change. Delete it first, or take another name.`,
  );

/** A draft of the model, with the keys of the copies to make. */
export function draftOf(
  { now, newId }: Pick<Registrar, 'now' | 'newId'>,
  { model_name, owner, owner_id, origin, files, shapes }: Registration,
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
  return { ...empty, origin, pending, shapes: { ...shapes } };
}

/** The name, claimed by a record of a draft; or the one that an earlier attempt has left. */
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

/**
 * Inspects files that lie in the bucket.
 * @throws ModelError where they are no complete model, or one of other shapes
 */
export async function inspectFiles(
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

/** The model of a draft once its files are copied. @throws ModelError where one that it needs is gone */
export async function copyModel(
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
    const isNeeded = target.role === 'model' || target.role === 'data';
    if (isThere) copied.push({ ...source, object: target.object });
    else if (isNeeded) throw new ModelError(`${target.name} was deleted before it could be copied.`);
  }
  return copied;
}

/**
 * Registers files that lie in the bucket as a model, by copies that storage makes itself. Doing it again, also after
 * a crash at any point, comes to the same one model.
 * @throws ModelError for files that are no complete model, and a 409 problem where the name is taken
 */
export async function registerModel(registrar: Registrar, registration: Registration): Promise<Model> {
  const { records } = registrar;
  const summary = await inspectFiles(registrar, registration);
  const claimed = await claimName(registrar, registration);
  if (claimed.status === 'ready') return claimed;
  const copied = await copyModel(registrar, registration.files, claimed, summary);
  const ready = { ...copied, version: claimed.version + 1 };
  if (await tryWrite(putModel(records, ready, claimed))) return ready;
  // Another attempt of the same has come first, or the model was deleted meanwhile.
  const present = await findModel(records, claimed.model_name);
  if (present?.model_id === claimed.model_id && present.status === 'ready') return present;
  throw new ServiceError('conflict', `Model ${claimed.model_name} was deleted while it was made.`);
}
