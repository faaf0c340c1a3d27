import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { endpoint as putArtifact } from '../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import type { endpoint as requestArtifactUpload } from '../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import type { endpoint as createExperiment } from '../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../functions/experiments/records/update-experiment.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { sendByTicket } from '../../shared/client/node/send-by-ticket.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { digestFile } from './digest-file.ts';

/**
 * Record an experiment with the files of a model's folder as its artifacts, and return its id. It ends as CANCELLED if that is
 * interrupted.
 * @param onProgress called with what is uploaded
 */
export async function uploadModelFolder(
  client: Client,
  { project_id, folder, name }: { project_id: string; folder: string; name: string },
  { signal, onProgress }: { signal: AbortSignal; onProgress(text: string): void },
): Promise<string> {
  const names = await filesOfModel(folder);
  const { experiment_id } = await client.call<typeof createExperiment>(
    'POST /projects/{project_id}/experiments',
    { path: { project_id }, body: { name: `files of ${name}` }, signal },
  );
  const end = (status: 'SUCCEEDED' | 'CANCELLED') =>
    client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
      path: { project_id, experiment_id },
      body: { status },
    });
  try {
    for (const path of names) {
      onProgress(`uploading ${path}`);
      await uploadArtifact(client, { project_id, experiment_id, path }, join(folder, path), signal);
    }
  } catch (error) {
    // What it has is of no use, and the error says why.
    await end('CANCELLED').catch(() => undefined);
    throw error;
  }
  await end('SUCCEEDED');
  return experiment_id;
}

async function uploadArtifact(
  client: Client,
  path: { project_id: string; experiment_id: string; path: string },
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const route = '/projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}';
  if ((await stat(file)).size === 0) return;
  const { sha256, size } = await digestFile(file, signal);
  let upload_id = '';
  const ask = async () => {
    const query = { sha256, size };
    const ticket = await client.call<typeof requestArtifactUpload>(`POST ${route}`, { path, query, signal });
    upload_id = ticket.upload_id;
    return { upload: ticket.upload, parts: null };
  };
  await sendByTicket(ask, { path: file, size, signal, onProgress: () => {} });
  await client.call<typeof putArtifact>(`PUT ${route}`, { path, query: { upload_id }, signal });
}

/** State of a training, which an export does not read. It may be larger than the model. */
const leftOut =
  /(?:^|\/)(?:\.|checkpoint-|runs\/|optimizer\.|scheduler\.|scaler\.|rng_state|training_args\.)/;

/** Return the files of a model in its folder. @throws CliError if the folder is none of a model of transformers */
export async function filesOfModel(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
    )
    .filter((name) => !leftOut.test(name))
    .sort();
  if (names.includes('config.json') || names.includes('modules.json')) return names;
  throw new CliError(
    `${folder} has no config.json, as save_pretrained writes it. Give the folder of a model of transformers.`,
    exitCodes.usage,
  );
}
