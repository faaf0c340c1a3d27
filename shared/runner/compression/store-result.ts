import { join } from 'node:path';
import { type ResultFile, resultObject } from '../../data/models/compression.ts';
import type { CommandUser } from '../../host/host.ts';
import { FileRefusedError, openOwned } from '../host/growing-file.ts';
import { JobError } from '../job/job-error.ts';
import { longPatience, retryFor } from '../job/retry-for.ts';
import { FileBytes, FileChangedError } from '../outputs/upload/file-bytes.ts';
import type { CompressionJob } from './compression-job.ts';

/**
 * Upload the files of a result under new keys. No record names them yet.
 * @throws JobError for an entry that is not a plain file, and above the deployment's limit
 */
export async function storeResult(
  job: CompressionJob,
  folder: string,
  names: readonly string[],
  user: CommandUser | undefined,
): Promise<ResultFile[]> {
  const stored: ResultFile[] = [];
  let room = job.settings.limits.artifactBytes;
  for (const name of names) {
    job.stop.signal.throwIfAborted();
    try {
      const file = await storeFile(job, folder, name, user, room);
      room -= file.size;
      stored.push(file);
    } catch (error) {
      if (error instanceof FileRefusedError || error instanceof FileChangedError)
        throw new JobError(`The result is refused: ${name}: ${error.message}.`);
      throw error;
    }
  }
  return stored;
}

const mediaType = 'application/octet-stream';

/** Upload one file of the result. It must be a regular file of the job's own user. */
async function storeFile(
  { record, objects, newId }: CompressionJob,
  folder: string,
  name: string,
  user: CommandUser | undefined,
  room: number,
): Promise<ResultFile> {
  const object = resultObject(record.strategy_id, newId());
  const handle = await openOwned(join(folder, name), user);
  try {
    const bytes = await FileBytes.of({ handle });
    if (bytes.size > room)
      throw new JobError('The result exceeds the limit of this deployment for the files of a job.');
    const stored = await retryFor(longPatience, async () => {
      const reading = bytes.read();
      try {
        await objects.putStream(object, reading.stream, mediaType);
        return reading.digest();
      } catch (error) {
        // A retry would not help.
        if (error instanceof FileChangedError) return error;
        throw error;
      }
    });
    if (stored instanceof Error) throw stored;
    return { name, size: bytes.size, sha256: stored, object };
  } finally {
    await handle.close();
  }
}
