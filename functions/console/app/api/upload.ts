import type { AnswerOf } from '../../../../shared/client/route.ts';
import { type SendFile, sendUpload, type UploadTarget } from '../../../../shared/client/send-upload.ts';
import type { endpoint as createModel } from '../../../optimization/models/create-model.endpoint.ts';
import type { endpoint as putModel } from '../../../optimization/models/put-model.endpoint.ts';
import type { endpoint as putDataset } from '../../../projects/put-dataset.endpoint.ts';
import type { endpoint as putSource } from '../../../projects/put-source.endpoint.ts';
import type { endpoint as requestDatasetUpload } from '../../../projects/request-dataset-upload.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../../projects/request-source-upload.endpoint.ts';
import { call } from './calls.ts';

/** How far an upload is: what it does, and how much of that is done, from 0 to 1. */
export interface Progress {
  step: 'hashing' | 'sending' | 'checking';
  done: number;
}
export type OnProgress = (progress: Progress) => void;

const sliceBytes = 4_194_304;

/** SHA-256 of a file of any size, a slice at a time, so that the page goes on answering. */
export async function hashFile(file: Blob, onProgress: OnProgress): Promise<string> {
  const { sha256 } = await import('@noble/hashes/sha2.js');
  const hash = sha256.create();
  for (let from = 0; from < file.size; from += sliceBytes) {
    hash.update(new Uint8Array(await file.slice(from, from + sliceBytes).arrayBuffer()));
    onProgress({ step: 'hashing', done: Math.min(1, (from + sliceBytes) / file.size) });
  }
  return Array.from(hash.digest(), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Headers that a browser sets itself and lets no page set. */
const ownHeaders = new Set(['content-length', 'host']);

/** Send a blob to storage; fetch tells nobody how far it is. */
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

/** Ask, send and accept: the three requests of an upload. */
async function upload(
  file: Blob,
  ask: (sha256: string) => Promise<UploadTarget>,
  accept: (sha256: string) => Promise<unknown>,
  onProgress: OnProgress,
): Promise<void> {
  const sha256 = await hashFile(file, onProgress);
  const onSent = (bytes: number) =>
    onProgress({ step: 'sending', done: file.size === 0 ? 1 : bytes / file.size });
  await sendUpload(() => ask(sha256), sending(file, onSent));
  onProgress({ step: 'checking', done: 1 });
  await accept(sha256);
}

export const uploadSource = (project_id: string, file: Blob, onProgress: OnProgress): Promise<void> =>
  upload(
    file,
    async (sha256) =>
      (
        await call<typeof requestSourceUpload>('POST /projects/{project_id}/source', {
          path: { project_id },
          query: { sha256, size: file.size },
        })
      ).upload,
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
    async (sha256) =>
      (
        await call<typeof requestDatasetUpload>('POST /projects/{project_id}/datasets/{dataset}', {
          path: { project_id, dataset },
          query: { sha256, size: file.size },
        })
      ).upload,
    (sha256) =>
      call<typeof putDataset>('PUT /projects/{project_id}/datasets/{dataset}', {
        path: { project_id, dataset },
        query: { sha256 },
      }),
    onProgress,
  );

type Ticket = AnswerOf<typeof createModel>;
type Role = 'model' | 'data' | 'calibration' | 'evaluation';

/** Send one file of a model, in parts where it is so large that storage wants them. */
export async function uploadModelFile(
  model_name: string,
  role: Role,
  file: File,
  onProgress: OnProgress,
): Promise<void> {
  const sha256 = await hashFile(file, onProgress);
  const announce = (): Promise<Ticket> =>
    call<typeof createModel>('POST /optimization/models/{model_name}', {
      path: { model_name },
      query: { file: role, sha256, size: file.size, ...(role === 'data' && { name: file.name }) },
    });
  const ticket = await announce();
  const onSent = (bytes: number) => onProgress({ step: 'sending', done: bytes / Math.max(1, file.size) });
  if (ticket.upload !== null) {
    const first = ticket.upload;
    let isFirst = true;
    const target = async (): Promise<UploadTarget> => {
      const to = isFirst ? first : (await announce()).upload;
      isFirst = false;
      return to ?? first;
    };
    await sendUpload(target, sending(file, onSent));
  } else if (ticket.parts !== null) {
    // Parts that have arrived before are not asked for again.
    for (const part of ticket.parts) {
      const bytes = file.slice(part.offset, part.offset + part.size);
      await sendUpload(
        async () => part,
        sending(bytes, (sent) => onSent(part.offset + sent)),
      );
    }
  }
  onProgress({ step: 'checking', done: 1 });
}

/** Accept the files of a model that were sent. */
export const acceptModel = (model_name: string, shapes: { inputs?: string; outputs?: string } = {}) =>
  call<typeof putModel>('PUT /optimization/models/{model_name}', { path: { model_name }, query: shapes });

/** Make a model of a file that an experiment left. */
export const modelFromArtifact = (model_name: string, experiment_id: string, path: string) =>
  call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name },
    query: { experiment_id, path },
  });
