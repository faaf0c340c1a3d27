import type { FileHandle } from 'node:fs/promises';
import type { ObjectWriter } from '../../../aws/objects.ts';
import {
  type Artifact,
  type ArtifactKind,
  type ArtifactOwner,
  artifactObject,
  changeArtifacts,
  type FileChange,
  findArtifact,
  listArtifacts,
  maxFileChanges,
} from '../../../data/experiments/artifact.ts';
import type { Experiment } from '../../../data/experiments/experiment.ts';
import { ProjectBytesError, requireProjectBytes } from '../../../data/projects/project.ts';
import { pagesOf } from '../../../data/table/pages-of.ts';
import type { TableWriter } from '../../../data/table/table.ts';
import { ConditionFailedError } from '../../../data/table/write-label.ts';
import { FileRefusedError } from '../../host/growing-file.ts';
import { JobError, LeaseLostError } from '../../job/job-error.ts';
import { longPatience, retryFor } from '../../job/retry-for.ts';
import { removeOrphans } from '../remove-orphans.ts';
import { FileBytes, FileChangedError, type OpenFile } from './file-bytes.ts';
import { mediaTypeOf } from './media-type.ts';

export interface ArtifactStoreOptions extends ArtifactOwner {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  newId(): string;
  now(): Date;
  maxBytes: number;
  /** Called after each file that was stored. */
  onStored?(): Promise<void>;
}

/**
 * The stored files of one kind of a job. A process that dies between two steps leaves at most an object without a
 * record below the experiment's prefix; the next attempt removes it, or the purge at the job's end.
 */
export class ArtifactStore {
  readonly #options: ArtifactStoreOptions;
  readonly #known = new Map<string, Artifact>();
  #bytes = 0;
  /** Bytes of files being uploaded, which already count against the limit. */
  #underway = 0;
  #hasLeftovers = false;
  /** The pending change of each path: the output folder and a client may store the same one. */
  readonly #inTurn = new Map<string, Promise<unknown>>();
  /** Changes for the next transaction. Concurrent changes of the same counters would only conflict. */
  readonly #waiting: Waiting[] = [];
  /** Resolves with the last transaction that has begun. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(options: ArtifactStoreOptions) {
    this.#options = options;
  }

  get files(): number {
    return this.#known.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Read the artifacts of earlier attempts from the records. */
  async load(): Promise<void> {
    this.#known.clear();
    this.#bytes = 0;
    for await (const artifact of eachArtifact(this.#options)) this.#note(artifact);
  }

  find(path: string): Artifact | undefined {
    return this.#known.get(path);
  }

  /**
   * Store an open file, replacing an earlier one of the same path. Return the stored version.
   * @throws FileChangedError, FileRefusedError, ArtifactLimitError: nothing is stored then. LeaseLostError.
   */
  put(path: string, file: OpenFile): Promise<string> {
    return this.#afterOthers(path, () => this.#put(path, file));
  }

  async #put(path: string, file: OpenFile): Promise<string> {
    const { experiment, kind, newId, now } = this.#options;
    const object = artifactObject(experiment.project_id, experiment.experiment_id, newId(), kind);
    const media_type = mediaTypeOf(path);
    const bytes = await this.#reserve(path, file);
    try {
      const stored = await retryFor(longPatience, () => this.#upload(bytes, object, media_type));
      if (stored instanceof Error) throw stored;
      const { size, version } = bytes;
      const previous = this.#known.get(path);
      const value = { path, size, sha256: stored, media_type, object, created_at: now().toISOString() };
      try {
        await this.#change({ path, value, previous });
      } catch (error) {
        await this.#discard(object);
        throw error;
      }
      this.#note(value);
      await this.#options.onStored?.();
      if (previous !== undefined) await this.#discard(previous.object);
      return version;
    } finally {
      this.#underway -= bytes.size;
    }
  }

  /** Remove the stored file of a path. @throws LeaseLostError */
  remove(path: string): Promise<void> {
    return this.#afterOthers(path, () => this.#remove(path));
  }

  async #remove(path: string): Promise<void> {
    const artifact = this.#known.get(path);
    if (artifact === undefined) return;
    await this.#change({ path, value: undefined, previous: artifact });
    this.#known.delete(path);
    this.#bytes -= artifact.size;
    await this.#discard(artifact.object);
  }

  /**
   * Remove the objects without a record: those of an earlier attempt, and those that storage failed to delete.
   * Call it only while no upload is pending.
   * @throws LeaseLostError
   */
  async removeOrphans(): Promise<void> {
    if (this.#options.lease.number === 1 && !this.#hasLeftovers) return;
    const { records, objects, experiment, kind, lease } = this.#options;
    const { project_id, experiment_id: job_id } = experiment;
    const prefix = artifactObject(project_id, job_id, '', kind);
    const place = { records, objects, job_id, lease, prefix, patienceSeconds: longPatience };
    await removeOrphans(place, new Set([...this.#known.values()].map(({ object }) => object)));
  }

  /** Run an action after the pending changes of the path. */
  #afterOthers<T>(path: string, act: () => Promise<T>): Promise<T> {
    const acting = (this.#inTurn.get(path) ?? Promise.resolve()).then(act);
    const ended: Promise<void> = acting
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        if (this.#inTurn.get(path) === ended) this.#inTurn.delete(path);
      });
    this.#inTurn.set(path, ended);
    return acting;
  }

  /** Reserve space for the file within the limit, and return its state. @throws ArtifactLimitError */
  async #reserve(path: string, file: OpenFile): Promise<FileBytes> {
    const { kind, maxBytes } = this.#options;
    const bytes = await FileBytes.of(file);
    const others = this.#bytes - (this.#known.get(path)?.size ?? 0) + this.#underway;
    if (others + bytes.size > maxBytes) throw new ArtifactLimitError(kind, maxBytes);
    this.#underway += bytes.size;
    try {
      await refuseSparse(file.handle);
      await this.#requireProjectBytes(bytes.size - (this.#known.get(path)?.size ?? 0));
    } catch (error) {
      this.#underway -= bytes.size;
      throw error;
    }
    return bytes;
  }

  /**
   * Upload the bytes and return their hash. Returns a FileChangedError and does not throw it, because a retry
   * would not help.
   */
  async #upload(bytes: FileBytes, object: string, mediaType: string): Promise<string | FileChangedError> {
    const reading = bytes.read();
    try {
      await this.#options.objects.putStream(object, reading.stream, mediaType);
      return reading.digest();
    } catch (error) {
      if (error instanceof FileChangedError) return error;
      throw error;
    }
  }

  /** Check that `more` bytes fit into the project. @throws ArtifactLimitError */
  async #requireProjectBytes(more: number): Promise<void> {
    const { records, experiment, kind, maxBytes, maxProjectBytes } = this.#options;
    const fault = await retryFor(longPatience, () =>
      requireProjectBytes(records, experiment.project_id, more, maxProjectBytes).catch((error: unknown) => {
        if (error instanceof ProjectBytesError) return error;
        throw error;
      }),
    );
    if (fault !== undefined) throw new ArtifactLimitError(kind, maxBytes, fault);
  }

  /** Write a change, together with those that came while an earlier one was written. */
  #change(change: FileChange): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ ...change, ...done });
    this.#lastWrite = this.#lastWrite.then(() => this.#writeWaiting());
    return done.promise;
  }

  async #writeWaiting(): Promise<void> {
    const group = this.#waiting.splice(0, maxFileChanges);
    if (group.length > 1 && (await this.#writeTogether(group))) return;
    for (const change of group) await this.#writeOne(change).then(change.resolve, change.reject);
  }

  /** Return false if one of the changes cannot be written: then each is written alone, to find it. */
  async #writeTogether(group: readonly Waiting[]): Promise<boolean> {
    try {
      await this.#write(group);
      for (const { resolve } of group) resolve();
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      for (const { reject } of group) reject(error);
    }
    return true;
  }

  #write(changes: readonly FileChange[]): Promise<void> {
    const { records } = this.#options;
    return retryFor(longPatience, () => changeArtifacts(records, this.#options, changes));
  }

  async #writeOne(change: FileChange): Promise<void> {
    const { records, experiment, kind } = this.#options;
    const { path, value, previous } = change;
    try {
      await this.#write([change]);
    } catch (cause) {
      if (!(cause instanceof ConditionFailedError)) throw cause;
      // The retry of an attempt whose reply was lost fails, although the change was made.
      const find = () => findArtifact(records, experiment.experiment_id, path, kind);
      const found = await retryFor(longPatience, find);
      if (found?.object === value?.object) return;
      if (value !== undefined) await this.#requireProjectBytes(value.size - (previous?.size ?? 0));
      throw new LeaseLostError({ cause });
    }
  }

  #note(artifact: Artifact): void {
    this.#bytes += artifact.size - (this.#known.get(artifact.path)?.size ?? 0);
    this.#known.set(artifact.path, artifact);
  }

  /** Delete an object without a record. */
  async #discard(object: string): Promise<void> {
    await this.#options.objects.delete([object]).catch(() => {
      this.#hasLeftovers = true;
    });
  }
}

/** A change, and what its caller waits for. */
type Waiting = FileChange & PromiseWithResolvers<void>;

/** All artifacts of a job. @throws UnreadableRecordError, because an unreadable one could be overwritten */
export async function* eachArtifact({
  records,
  experiment,
  kind,
}: Pick<ArtifactStoreOptions, 'records' | 'kind'> & {
  experiment: Pick<Experiment, 'experiment_id'>;
}): AsyncGenerator<Artifact> {
  const read = (after: string | undefined) =>
    retryFor(longPatience, () => listArtifacts(records, experiment.experiment_id, { after }, kind));
  for await (const page of pagesOf(read)) {
    const [unreadable] = page.unreadable ?? [];
    if (unreadable !== undefined) throw unreadable;
    yield* page.items;
  }
}

/** The environment variable with which the user's command finds the folder of a kind. */
export const folderVariable = { artifact: 'OUTPUT_DIR', checkpoint: 'CHECKPOINT_DIR' } as const;

/** The files of a job exceed a limit, which the message names. */
export class ArtifactLimitError extends JobError {
  override readonly name = 'ArtifactLimitError';

  /** @param project error that names the project's limit, if that limit was exceeded */
  constructor(kind: ArtifactKind, maxBytes: number, project?: ProjectBytesError) {
    const folder = folderVariable[kind];
    super(
      project === undefined
        ? `The files in ${folder} exceed the limit of ${maxBytes} bytes.`
        : `The files in ${folder} exceed the limit of the project. ${project.message}`,
    );
  }
}

/** Smaller sparse files are stored with their zeros. */
const smallBytes = 100_000_000;

/** Unit of `blocks` on every file system. */
const blockBytes = 512;

/** A file with a smaller share of its bytes on disk is sparse. Files compressed by a file system have more. */
const minShare = 1 / 10;

/**
 * Refuse a large file that is mostly holes. It takes no disk space, but its zeros would be read, sent and paid
 * for.
 * @throws FileRefusedError
 */
async function refuseSparse(handle: FileHandle): Promise<void> {
  const isSparse = async () => {
    const { size, blocks } = await handle.stat();
    return size > smallBytes && blocks * blockBytes < size * minShare;
  };
  if (!(await isSparse())) return;
  // Some file systems assign blocks only once the data is written back.
  await handle.datasync();
  if (!(await isSparse())) return;
  const { size, blocks } = await handle.stat();
  throw new FileRefusedError(
    `it is sparse: only ${blocks * blockBytes} of its ${size} bytes are on the disk`,
  );
}
