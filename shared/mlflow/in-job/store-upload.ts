import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ServiceError } from '../../core/service-error.ts';
import { artifactObject } from '../../data/experiments/artifact.ts';
import { type ArtifactHome, putUnannounced } from '../../data/experiments/client-artifact.ts';
import { ProjectBytesError, requireProjectBytes } from '../../data/projects/project.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { hasCode } from '../../host/has-code.ts';
import { JobError } from '../../runner/job/job-error.ts';
import type { ClientRecords } from '../../runner/outputs/client-records.ts';
import { mediaTypeOf } from '../../runner/outputs/upload/media-type.ts';
import { requireFilePlace } from '../artifacts/artifact-home.ts';
import { isOwnRun } from '../protocol/context.ts';
import type { JobContext } from './job-routes.ts';

/**
 * Store a file that a job's program uploads: spool it to disk completely, then copy it to the bucket before the
 * acknowledgement.
 * @param location address below `mlflow-artifacts:/`
 */
export async function storeUpload(
  { context, logs, spool }: UploadTarget,
  location: string,
  bytes: Readable,
): Promise<void> {
  const { home, path } = await requireFilePlace(context, location, 'developer');
  if (home.of !== 'experiment') throw tooMuch(0);
  await mkdir(spool.folder, { recursive: true, mode: 0o700 });
  const file = join(spool.folder, context.newId());
  const own = { bytes: 0 };
  const handle = await open(file, 'wx+', 0o600);
  try {
    const sha256 = await writeTo(handle, bytes, spool, own);
    if (isOwnRun(context, home)) await logs.file(path, { handle });
    else await storeBeside(context, home, path, { path: file, size: own.bytes, sha256 });
  } catch (error) {
    if (error instanceof JobError || error instanceof ProjectBytesError)
      throw new ServiceError('conflict', error.message);
    if (isFull(error)) throw new ServiceError('conflict', 'The disk of this job has no room for the file.');
    throw error;
  } finally {
    await handle.close();
    await rm(file, { force: true });
    spool.bytes -= own.bytes;
  }
}

/** Context of uploads from a job's program. */
export interface UploadTarget {
  context: JobContext;
  logs: ClientRecords;
  spool: Spool;
}

interface Spool {
  /** Folder of the supervisor. The program cannot access it. */
  folder: string;
  /** Bytes on disk of all uploads together. */
  bytes: number;
  maxBytes: number;
}

const tooMuch = (maxBytes: number): ServiceError =>
  new ServiceError('conflict', `The artifacts of a job may have at most ${maxBytes} bytes.`);

/**
 * Write the bytes to a file. They count against the disk limit for all uploads together.
 * @returns SHA-256 of the bytes
 */
async function writeTo(
  file: FileHandle,
  bytes: Readable,
  spool: Spool,
  own: { bytes: number },
): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    own.bytes += chunk.length;
    spool.bytes += chunk.length;
    if (spool.bytes > spool.maxBytes) throw tooMuch(spool.maxBytes);
    hash.update(chunk);
    await file.appendFile(chunk);
  }
  return hash.digest('hex');
}

/** Store a file of another run that the job records. */
async function storeBeside(
  { records, objects, newId, now, settings }: JobContext,
  home: Extract<ArtifactHome, { of: 'experiment' }>,
  path: string,
  file: { path: string; size: number; sha256: string },
): Promise<void> {
  const { projectBytes } = settings.limits;
  await requireProjectBytes(records, home.project_id, file.size, projectBytes);
  const object = artifactObject(home.project_id, home.experiment_id, newId());
  const media_type = mediaTypeOf(path);
  await objects.putFile(object, file.path, media_type);
  const { size, sha256 } = file;
  const value = { path, size, sha256, media_type, object, created_at: now().toISOString() };
  const previous = await retryOnConflict(() => putUnannounced(records, home, value, projectBytes));
  if (previous !== undefined) await objects.delete([previous.object]).catch(() => undefined);
}

const isFull = (error: unknown): boolean => hasCode(error, 'ENOSPC', 'EDQUOT');
