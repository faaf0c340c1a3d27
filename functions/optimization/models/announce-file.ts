import * as z from 'zod';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { uploadSeconds } from '../../../shared/aws/upload-seconds.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import {
  emptyModel,
  type Model,
  modelObject,
  putModel,
  sameModel,
} from '../../../shared/data/models/model.ts';
import { isOwnFile, isSameFile, type PendingFile } from '../../../shared/data/models/model-file.ts';
import { announce, newPurge, recordPurge, withdrawAnnounced } from '../../../shared/data/projects/purge.ts';
import { isGivenUp, missingParts, withNewParts } from '../../../shared/data/projects/upload.ts';
import { signedUpload } from '../../../shared/data/projects/upload-rules.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import type { Ambient, Caller } from '../../../shared/http/definition/endpoint-context.ts';
import type { StoredShapes } from '../../../shared/onnx-models/completeness.ts';
import { ModelDetails } from './model-answer.ts';
import { maxDataBytes, type UploadRequest } from './model-request.ts';

export interface Announcing extends Pick<Ambient, 'now' | 'newId'> {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  caller: Caller;
}

/** A model with a file to upload; `file` is undefined if the same file was accepted before. */
interface Announced {
  model: Model;
  file: PendingFile | undefined;
}

/**
 * Record that a client will upload a file for a model. The first file creates the model. A file that was announced
 * before keeps its object, so a repeated request resumes its upload. Another content in the same role replaces it.
 * The same content also replaces it after storage has dropped its parts.
 * @throws ConditionFailedError when another change came between, and a 409 problem for a file that the model
 * cannot take
 */
export async function announceFile(
  announcing: Announcing,
  model_name: string,
  present: Model | undefined,
  uploadRequest: UploadRequest,
  storedShapes: StoredShapes,
): Promise<Announced> {
  const { records, objects, now, newId } = announcing;
  const model = present ?? draftOf(announcing, model_name);
  requireUploads(model);
  if (model.files.some((file) => isSameContent(file, uploadRequest))) return { model, file: undefined };
  const again = model.pending.find(
    (file) => isSameContent(file, uploadRequest) && (file.parts !== null) === uploadRequest.isMultipart,
  );
  const isLost =
    again?.parts != null && (await isGivenUp(objects, again.object, { ...again.parts, size: again.size }));
  if (again !== undefined && !isLost) {
    await records.write(sameModel(model), awaited(announcing, model_name, again));
    return { model, file: again };
  }
  requireRoom(model, uploadRequest);
  const { role, name, size, sha256 } = uploadRequest;
  const object = modelObject(model.model_id, newId());
  const replaced = model.pending.filter((one) => isSameFile(one, uploadRequest));
  const announced = await withNewParts(objects, { object, size }, async (startParts) => {
    const begun = uploadRequest.isMultipart ? await startParts() : null;
    const parts = begun && { upload_id: begun.upload_id, part_bytes: begun.part_bytes };
    const file: PendingFile = { role, name, size, sha256, object, parts };
    const next: Model = {
      ...model,
      pending: [...model.pending.filter((one) => !isSameFile(one, file)), file],
      // The service compares these shapes with the model after the model has arrived.
      shapes: {
        inputs: storedShapes.inputs ?? model.shapes.inputs,
        outputs: storedShapes.outputs ?? model.shapes.outputs,
      },
      updated_at: now().toISOString(),
      version: model.version + 1,
    };
    await putModel(records, next, present, [
      awaited(announcing, model_name, file),
      ...replaced.map((one) => forget(announcing, one)),
    ]);
    return { model: next, file };
  });
  for (const one of replaced) {
    if (one.parts !== null) await objects.abortParts(one.object, one.parts.upload_id);
  }
  return announced;
}

function draftOf({ now, newId, caller }: Announcing, model_name: string): Model {
  const owner = { owner: caller.username, owner_id: caller.user_id };
  return emptyModel({
    model_id: newId(),
    model_name,
    ...owner,
    created_at: now().toISOString(),
    version: 0,
  });
}

/** Refuse uploads to a model that is being registered by copies. */
function requireUploads({ model_name, status, origin }: Model): void {
  if (status === 'uploading' && origin.kind !== 'upload') {
    throw new ServiceError(
      'conflict',
      `Model ${model_name} is being registered by copies. Repeat that request, or delete the model.`,
    );
  }
}

const isSameContent = (
  file: Pick<PendingFile, 'role' | 'name' | 'sha256' | 'size'>,
  uploadRequest: UploadRequest,
): boolean =>
  isSameFile(file, uploadRequest) && file.sha256 === uploadRequest.sha256 && file.size === uploadRequest.size;

/** Schedule the removal of a file after a day, unless it is accepted before. */
const awaited = ({ now }: Announcing, model_name: string, { object, parts }: PendingFile): Write =>
  announce({ of: 'model', object, model_name, upload_id: parts?.upload_id ?? null }, now());

/** Most files of a model. */
const maxFiles = 500;

/** Refuse a file that this model can no longer take. */
function requireRoom({ model_name, status, files, pending }: Model, uploadRequest: UploadRequest): void {
  if (status === 'ready' && isOwnFile(uploadRequest)) {
    throw new ServiceError(
      'conflict',
      `A model named ${model_name} already exists, and models never change. Delete it first, or choose another name.`,
    );
  }
  const others = [...files, ...pending].filter((one) => !isSameFile(one, uploadRequest));
  const twin = others.find(({ name }) => name === uploadRequest.name);
  if (twin !== undefined) {
    const detail = `The model has a file named ${twin.name} already: file=${twin.role}. Each file of a model has a name of its own.`;
    throw new ServiceError('conflict', detail);
  }
  if (others.length >= maxFiles) throw new ServiceError('conflict', `A model has at most ${maxFiles} files.`);
  const bytes = others.reduce((sum, { size }) => sum + size, uploadRequest.size);
  if (bytes > maxDataBytes) {
    throw new ServiceError('conflict', `All files of a model together have at most ${maxDataBytes} bytes.`);
  }
}

/** Schedule the removal of an object that may have been uploaded for an earlier announcement. */
const forget = (announcing: Announcing, { object }: PendingFile): Write =>
  recordPurge(newPurge(announcing, { partitions: [], prefixes: [object] }));

/** Most writes of a transaction. */
const writesAtOnce = 100;

/**
 * Delete the announcements of accepted files. The transaction that accepts them may have no room for these writes.
 * If a crash leaves an announcement, its purge a day later finds that the file is accepted.
 */
export async function withdrawFiles(
  records: TableWriter<'records'>,
  accepted: readonly PendingFile[],
): Promise<void> {
  for (let from = 0; from < accepted.length; from += writesAtOnce) {
    const some = accepted.slice(from, from + writesAtOnce);
    await records.write(...some.map(({ object }) => withdrawAnnounced(object)));
  }
}

/**
 * A model, and how to upload its next file: in one request, or in one request for each missing part. Both are null
 * if there is nothing to upload.
 */
export const ModelTicket = z
  .object({
    model: ModelDetails,
    ...signedUpload({}),
    /** Seconds until the URLs expire. Repeat the request for new ones. */
    expires_in: z.number().int().nullable(),
  })
  .meta({ id: 'ModelTicket' });

type Ticket = Omit<z.input<typeof ModelTicket>, 'model'>;

/** Return how to upload a file; all fields are null without a file. */
export async function ticketFor(objects: ObjectWriter, file: PendingFile | undefined): Promise<Ticket> {
  if (file === undefined) return { upload: null, parts: null, expires_in: null };
  const { object, size, sha256, parts } = file;
  if (parts === null) {
    const { url, method, headers } = await objects.presignUpload(object, size, sha256);
    return { upload: { url, method, headers }, parts: null, expires_in: uploadSeconds };
  }
  const urls = await missingParts(objects, object, { ...parts, size });
  return { upload: null, parts: urls, expires_in: uploadSeconds };
}
