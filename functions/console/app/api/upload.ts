import { type SendFile, sendUpload, type UploadTarget } from '../../../../shared/client/send-upload.ts';
import type { Sets } from '../../../../shared/onnx-models/sets-beside.ts';
import type { endpoint as createModel } from '../../../optimization/models/create-model.endpoint.ts';
import type { endpoint as putModel } from '../../../optimization/models/put-model.endpoint.ts';
import type { endpoint as putDataset } from '../../../projects/uploads/put-dataset.endpoint.ts';
import type { endpoint as putSource } from '../../../projects/uploads/put-source.endpoint.ts';
import type { endpoint as requestDatasetUpload } from '../../../projects/uploads/request-dataset-upload.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../../projects/uploads/request-source-upload.endpoint.ts';
import { call } from './calls.ts';

/** Progress of an upload: the current step, and its completed fraction from 0 to 1. */
export interface Progress {
  step: 'hashing' | 'sending' | 'checking';
  done: number;
}
export type OnProgress = (progress: Progress) => void;

const sliceBytes = 4_194_304;

/** Compute the SHA-256 of a file slice by slice, so the page stays responsive. */
export async function hashFile(file: Blob, onProgress: OnProgress): Promise<string> {
  const { sha256 } = await import('@noble/hashes/sha2.js');
  const hash = sha256.create();
  for (let from = 0; from < file.size; from += sliceBytes) {
    hash.update(new Uint8Array(await file.slice(from, from + sliceBytes).arrayBuffer()));
    onProgress({ step: 'hashing', done: Math.min(1, (from + sliceBytes) / file.size) });
  }
  return Array.from(hash.digest(), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Headers that the browser sets and a page must not set. */
const ownHeaders = new Set(['content-length', 'host']);

/** Send a blob to storage with progress events, which `fetch` does not have. */
const sending =
  (blob: Blob, onSent: (bytes: number) => void): SendFile =>
  ({ url, method, headers }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, url);
      for (const [name, value] of Object.entries(headers))
        if (!ownHeaders.has(name.toLowerCase())) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => onSent(loaded);
      request.onload = () => resolve({ status: request.status, text: request.responseText });
      request.onerror = () => reject(new TypeError('the connection was lost'));
      request.send(blob);
    });

/** How to send a file: in one request, or as the missing parts. */
interface Ticket {
  upload: UploadTarget | null;
  parts: readonly (UploadTarget & { offset: number; size: number })[] | null;
}

/** Send a file in one request, or in parts above 5 GB, the limit of one request to storage. */
async function sendByTicket(file: Blob, ask: () => Promise<Ticket>, onProgress: OnProgress): Promise<void> {
  const onSent = (bytes: number) => onProgress({ step: 'sending', done: bytes / Math.max(1, file.size) });
  const { upload: first, parts } = await ask();
  if (first !== null) {
    let isFirst = true;
    const target = async (): Promise<UploadTarget> => {
      const to = isFirst ? first : (await ask()).upload;
      isFirst = false;
      return to ?? first;
    };
    await sendUpload(target, sending(file, onSent));
  }
  // `parts` lists only the missing parts.
  for (const part of parts ?? []) {
    const bytes = file.slice(part.offset, part.offset + part.size);
    await sendUpload(
      async () => part,
      sending(bytes, (sent) => onSent(part.offset + sent)),
    );
  }
  onProgress({ step: 'checking', done: 1 });
}

/** Run an upload's three steps: request a ticket, send, accept. */
async function upload(
  file: Blob,
  ask: (sha256: string) => Promise<Ticket>,
  accept: (sha256: string) => Promise<unknown>,
  onProgress: OnProgress,
): Promise<void> {
  const sha256 = await hashFile(file, onProgress);
  await sendByTicket(file, () => ask(sha256), onProgress);
  await accept(sha256);
}

export const uploadSource = (project_id: string, file: Blob, onProgress: OnProgress): Promise<void> =>
  upload(
    file,
    (sha256) =>
      call<typeof requestSourceUpload>('POST /projects/{project_id}/source', {
        path: { project_id },
        query: { sha256, size: file.size },
      }),
    (sha256) =>
      call<typeof putSource>('PUT /projects/{project_id}/source', {
        path: { project_id },
        query: { sha256 },
      }),
    onProgress,
  );

export const uploadDataset = (
  project_id: string,
  dataset: string,
  file: Blob,
  onProgress: OnProgress,
): Promise<void> =>
  upload(
    file,
    (sha256) =>
      call<typeof requestDatasetUpload>('POST /projects/{project_id}/datasets/{dataset}', {
        path: { project_id, dataset },
        query: { sha256, size: file.size },
      }),
    (sha256) =>
      call<typeof putDataset>('PUT /projects/{project_id}/datasets/{dataset}', {
        path: { project_id, dataset },
        query: { sha256 },
      }),
    onProgress,
  );

type Role = 'model' | 'data' | 'calibration' | 'evaluation';

/** Send one file of a model, in parts if it is large. */
export async function uploadModelFile(
  model_name: string,
  role: Role,
  file: File,
  onProgress: OnProgress,
): Promise<void> {
  const sha256 = await hashFile(file, onProgress);
  const ask = () =>
    call<typeof createModel>('POST /optimization/models/{model_name}', {
      path: { model_name },
      query: { file: role, sha256, size: file.size, ...(role === 'data' && { name: file.name }) },
    });
  await sendByTicket(file, ask, onProgress);
}

/** Accept the uploaded files of a model. */
export const acceptModel = (model_name: string, shapes: { inputs?: string; outputs?: string } = {}) =>
  call<typeof putModel>('PUT /optimization/models/{model_name}', { path: { model_name }, query: shapes });

/** Create a model from an experiment's artifact, with sets from the same experiment. */
export const modelFromArtifact = (
  model_name: string,
  experiment_id: string,
  files: { path: string } & Sets,
) =>
  call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name },
    query: { experiment_id, ...files },
  });
