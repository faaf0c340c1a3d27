import { join } from 'node:path';
import { errorName } from '../../core/error-text.ts';
import { ServiceError } from '../../core/service-error.ts';
import {
  compressionKey,
  compressionRemains,
  parseCompression,
  type ResultFile,
  requireCompression,
  resultObject,
} from '../../data/models/compression.ts';
import { findModel, type Model, modelPrefix, modelWrites } from '../../data/models/model.ts';
import { modelFileNames } from '../../data/models/model-file.ts';
import type { Write } from '../../data/table/table.ts';
import type { CommandUser } from '../../host/host.ts';
import type { Conclusion } from '../../jobs/conclusion.ts';
import { ModelError } from '../../onnx/model/model-error.ts';
import { modelOfResult } from '../../onnx-models/register-model.ts';
import { FileRefusedError, openOwned } from '../host/growing-file.ts';
import { concludeHeldJob } from '../job/conclude-held-job.ts';
import { JobError } from '../job/job-error.ts';
import { longPatience, retryFor, shortPatience } from '../job/retry-for.ts';
import { removeOrphans } from '../outputs/remove-orphans.ts';
import { FileBytes, FileChangedError } from '../outputs/upload/file-bytes.ts';
import type { CompressionJob } from './compression-job.ts';

/** The end of a compression, with all writes of the same transaction. */
export interface CompressionEnd {
  conclusion: Conclusion;
  /** Writes of the same transaction. */
  further: readonly Write[];
  result: readonly ResultFile[];
  /** The model that is registered from the result, if any. */
  model: Model | undefined;
}

/**
 * Conclude a compression. Its result becomes a model in the same transaction or not at all, and no object without a
 * record remains in the bucket. If another container holds the job, write nothing and delete the objects of this
 * one.
 */
export async function concludeCompression(job: CompressionJob, end: CompressionEnd): Promise<void> {
  // The first attempt that succeeds has left nothing else.
  const { lease, record } = job;
  const isWhole =
    end.conclusion.status === 'SUCCEEDED' && (end.model !== undefined || record.result_name === null);
  if (!isWhole || lease.number > 1) await removeUnnamedObjects(job, namedBy(end));
  if ((await write(job, end)) || (await isTaken(job, end))) return;
  const other = await withoutModel(job, end);
  if (other !== undefined) {
    await removeUnnamedObjects(job, namedBy(other));
    if (await write(job, other)) return;
  }
  const own = [...namedBy(end)];
  if (own.length > 0) await retryFor(longPatience, () => job.objects.delete(own));
}

/**
 * Remove the objects that no record will name once the compression has ended: results uploaded before a failure or by an
 * earlier attempt, and copies for a model that is not registered. Never throws: leftovers are removed with the
 * compression.
 */
async function removeUnnamedObjects(job: CompressionJob, named: ReadonlySet<string>): Promise<void> {
  const { record, records, objects, lease, log } = job;
  const { strategy_id: job_id, result_name } = record;
  const copies = result_name === null ? [] : [modelPrefix(job_id)];
  try {
    for (const prefix of [...compressionRemains(record).prefixes, ...copies])
      await removeOrphans({ records, objects, job_id, lease, prefix, patienceSeconds: shortPatience }, named);
  } catch (error) {
    log.warn('results-left', { strategy_id: job_id, error: errorName(error) });
  }
}

const namedBy = ({ result, model }: CompressionEnd): Set<string> =>
  new Set([...result, ...(model?.files ?? [])].map(({ object }) => object));

const write = (job: CompressionJob, { conclusion, further, model }: CompressionEnd): Promise<boolean> =>
  concludeHeldJob(job, conclusion, ...further, ...(model === undefined ? [] : modelWrites(model, undefined)));

/** Whether this end is already recorded. A retry fails if the first attempt's reply was lost. */
async function isTaken({ record, records }: CompressionJob, { result }: CompressionEnd): Promise<boolean> {
  const key = compressionKey(record.kind, record.strategy_id);
  const item = await retryFor(longPatience, () => records.get(key));
  const stored = item === undefined ? [] : parseCompression(item).result;
  return result.some(({ object }) => stored.some((file) => file.object === object));
}

/** Return the end without its model if the model's name has been taken since; undefined otherwise. */
async function withoutModel({ record, records }: CompressionJob, end: CompressionEnd) {
  const { result_name } = record;
  if (end.model === undefined || result_name === null) return undefined;
  const present = await retryFor(longPatience, () => findModel(records, result_name));
  if (present === undefined) return undefined;
  const why = notRegistered(result_name, `A model ${result_name} already exists.`);
  return { ...end, model: undefined, conclusion: withRegistered(end.conclusion, why) };
}

/** The outcome of registering the result under the requested name. */
interface Registered {
  /** The model to record with the compression's end; undefined if not requested or impossible. */
  model: Model | undefined;
  /** Whether the result becomes a model; null if not requested. */
  registered: boolean | null;
  /** The reason if it does not, for the user. */
  reason: string | null;
}

/** A result that does not become the requested model. */
const notRegistered = (result_name: string | null, why: string): Registered => ({
  model: undefined,
  registered: false,
  reason: `The result could not be registered as the model ${result_name}: ${why}`,
});

/** Conclusion of a compression whose result becomes, or does not become, a model. */
export const withRegistered = (
  conclusion: Conclusion,
  { registered, reason }: Omit<Registered, 'model'>,
): Conclusion => ({ ...conclusion, reason, change: { ...conclusion.change, registered } });

/** Register the result as a model under the requested name. If the name has been taken, the result is still kept. */
export async function registerNamed(job: CompressionJob, result: readonly ResultFile[]): Promise<Registered> {
  const { record, records, objects, now, newId } = job;
  const { kind, result_name, strategy_id, user_id: owner_id, model_name, files, stored_shapes } = record;
  if (result_name === null) return { model: undefined, registered: null, reason: null };
  try {
    // Read the record again, because the user may have been deleted since the job began.
    const { owner } = await requireCompression(records, kind, strategy_id);
    const model = await modelOfResult(
      { records, objects, now, newId },
      {
        result_name,
        strategy_id,
        owner,
        owner_id,
        source: { model_name, files, shapes: stored_shapes },
        files: result.map((file) => ({
          ...file,
          role: file.name === modelFileNames.model ? 'model' : 'data',
          verified: true,
        })),
      },
    );
    return { model, registered: true, reason: null };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof ModelError)) throw error;
    return notRegistered(result_name, error.message);
  }
}

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
