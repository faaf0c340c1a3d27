import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type DiskRoom, DiskRoomError } from '../../archive/disk-room.ts';
import type { ObjectReader, ObjectStream } from '../../aws/objects.ts';
import { isUnreadableObject } from '../../aws/unreadable-object.ts';
import { JobError } from './job-error.ts';

export interface Download {
  /** Name of the object in messages: "source archive 1234…". */
  what: string;
  /** Free space of the target disk. */
  room: DiskRoom;
  /** Aborts the download with its reason. */
  stop?: AbortSignal | undefined;
  /** Seconds without a byte after which the download fails; default 600. */
  patienceSeconds?: number;
  /** Seconds without a byte after which the connection is dropped; default 30. */
  idleSeconds?: number;
}

/** Progress of a download. */
interface Progress {
  position: number;
  hash: Hash;
  /** ETag of the object being downloaded. */
  etag: string | undefined;
  /** Time of the last received bytes. */
  at: number;
  /** Number of restarts. */
  restarts: number;
}

/** Maximum number of restarts of a download after its object changed or arrived damaged. */
const maxRestarts = 3;

const longestPause = 10_000;

/**
 * Download an object into an open file and return the SHA-256 of its bytes; undefined if the object does not
 * exist. After an outage or a broken connection the download of the same object continues.
 * @throws JobError naming `what`, if no byte arrived for too long, storage refuses or the disk is too full; errors
 * of the disk
 */
export async function downloadObject(
  objects: ObjectReader,
  key: string,
  file: FileHandle,
  download: Download,
): Promise<string | undefined> {
  const { what, stop, patienceSeconds = 600 } = download;
  const progress: Progress = {
    position: 0,
    hash: createHash('sha256'),
    etag: undefined,
    at: performance.now(),
    restarts: 0,
  };
  await file.truncate(0);
  let pause = 100;
  for (;;) {
    stop?.throwIfAborted();
    const before = progress.position;
    try {
      const isThere = await goOn(objects, key, file, progress, download);
      return isThere ? progress.hash.digest('hex') : undefined;
    } catch (error) {
      stop?.throwIfAborted();
      if (error instanceof WriteError) throw error.cause;
      if (error instanceof DiskRoomError) {
        throw new JobError(`The ${what} does not fit on the disk: ${error.message}.`, { cause: error });
      }
      if (hasChanged(error) && progress.etag !== undefined && progress.restarts < maxRestarts) {
        await beginAnew(file, progress);
      } else if (isUnreadableObject(error)) {
        throw new JobError(`Storage cannot read the ${what}. ${error.message}`, { cause: error });
      } else if (isFinal(error)) {
        throw new JobError(`Storage refuses the ${what} (${nameOf(error)}).`, { cause: error });
      }
      if (progress.position > before) pause = 100;
      if (performance.now() + pause - progress.at > patienceSeconds * 1000) {
        const why = `storage could not be reached for ${patienceSeconds} s (${nameOf(error)})`;
        throw new JobError(`The ${what} could not be downloaded: ${why}.`, { cause: error });
      }
      await delay(pause * (0.5 + Math.random() / 2), undefined, { signal: stop }).catch(() => undefined);
      pause = Math.min(pause * 2, longestPause);
    }
  }
}

/** Request the rest of the object once. Returns false if the object does not exist. */
async function goOn(
  objects: ObjectReader,
  key: string,
  file: FileHandle,
  progress: Progress,
  { stop, idleSeconds = 30, room }: Download,
): Promise<boolean> {
  const from = progress.position;
  const { etag } = progress;
  const found = await within(idleSeconds, stop, (signal) =>
    objects.open(key, { from, signal, ...(etag !== undefined && { etag }) }),
  );
  if (found === undefined) return false;
  progress.etag = found.etag;
  try {
    room.require(found.size - from, 'it');
  } catch (error) {
    found.body.destroy();
    throw error;
  }
  for await (const chunk of whileAlive(found, idleSeconds, stop)) {
    room.require(chunk.length, 'the rest of it');
    room.use(chunk.length);
    await writeAll(file, chunk, progress.position).catch((cause: unknown) => {
      throw new WriteError('the disk refuses it', { cause });
    });
    progress.hash.update(chunk);
    progress.position += chunk.length;
    progress.at = performance.now();
  }
  if (progress.position < found.size) throw new Error('the connection ended too early');
  return true;
}

/** Run an action, and abort it after some seconds or on stop. */
async function within<T>(
  seconds: number,
  stop: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, seconds * 1000);
  stop?.addEventListener('abort', abort, { once: true });
  try {
    return await act(controller.signal);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', abort);
  }
}

/** Yield the chunks of a body, and end it after `seconds` without one. */
async function* whileAlive({ body }: ObjectStream, seconds: number, stop: AbortSignal | undefined) {
  const silent = () => body.destroy(new Error(`no bytes arrived for ${seconds} s`));
  const stopped = () => body.destroy();
  stop?.addEventListener('abort', stopped, { once: true });
  let timer = setTimeout(silent, seconds * 1000);
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) throw new Error('storage returned no bytes');
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(silent, seconds * 1000);
    }
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', stopped);
  }
}

async function writeAll(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    done += (await file.write(chunk, done, chunk.length - done, position + done)).bytesWritten;
  }
}

/** An error of the disk. A retry does not help. */
class WriteError extends Error {
  override readonly name = 'WriteError';
}

/** Whether the object has changed since the first bytes. */
const hasChanged = (error: unknown): boolean => statusOf(error) === 412 || statusOf(error) === 416;

const statusOf = (error: unknown): number | undefined => {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  const { $metadata: metadata } = error;
  const isObject = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata;
  return isObject && typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
};

async function beginAnew(file: FileHandle, progress: Progress): Promise<void> {
  await file.truncate(0);
  const restarts = progress.restarts + 1;
  Object.assign(progress, { position: 0, hash: createHash('sha256'), etag: undefined, restarts });
}

/** Whether a retry cannot help. */
function isFinal(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

const nameOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};
