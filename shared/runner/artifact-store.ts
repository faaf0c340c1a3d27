import type { FileHandle } from 'node:fs/promises';
import type { ObjectWriter } from '../aws/objects.ts';
import {
  type Artifact,
  type ArtifactOwner,
  artifactObject,
  findArtifact,
  listArtifacts,
  putArtifact,
  removeArtifact,
} from '../data/artifact.ts';
import { ConditionFailed, type TableWriter } from '../data/table.ts';
import { ArtifactLimit } from './artifact-limit.ts';
import { FileBytes, FileChanged } from './file-bytes.ts';
import { LeaseLost } from './lease-lost.ts';
import { mediaTypeOf } from './media-type.ts';
import { persist } from './retry.ts';

/** Seconds for which a store or table that is away is tried again. */
const PATIENCE_SECONDS = 600;

export interface ArtifactStoreOptions extends ArtifactOwner {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  newId(): string;
  now(): Date;
  maxBytes: number;
}

/** All artifacts of a job. */
export async function* eachArtifact({
  records,
  experiment,
  kind,
}: Pick<ArtifactStoreOptions, 'records' | 'experiment' | 'kind'>): AsyncGenerator<Artifact> {
  let after: string | undefined;
  do {
    const from = after;
    const page = await persist(PATIENCE_SECONDS, () =>
      listArtifacts(records, experiment.experiment_id, { after: from }, kind),
    );
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

/**
 * The files of one kind that a job has sent home. A process that dies between any two steps leaves at most an object
 * that no record names, below the experiment's prefix, with which it is removed.
 */
export class ArtifactStore {
  readonly #options: ArtifactStoreOptions;
  readonly #known = new Map<string, Artifact>();
  #bytes = 0;

  constructor(options: ArtifactStoreOptions) {
    this.#options = options;
  }

  get files(): number {
    return this.#known.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reads what is recorded already, by earlier attempts. */
  async load(): Promise<void> {
    this.#known.clear();
    this.#bytes = 0;
    for await (const artifact of eachArtifact(this.#options)) this.#note(artifact);
  }

  find(path: string): Artifact | undefined {
    return this.#known.get(path);
  }

  /**
   * Stores an open file in place of what is under its path, and returns the version of the file that it stored.
   * @throws FileChanged, ArtifactLimit: nothing is stored then. LeaseLost.
   */
  async put(path: string, handle: FileHandle): Promise<string> {
    const { experiment, kind, newId, now } = this.#options;
    const object = artifactObject(experiment.project_id, experiment.experiment_id, newId(), kind);
    const media_type = mediaTypeOf(path);
    const stored = await persist(PATIENCE_SECONDS, () => this.#upload(path, handle, object, media_type));
    if (stored instanceof Error) throw stored;
    const { size, version } = stored;
    const previous = this.#known.get(path);
    const value = {
      path,
      size,
      sha256: stored.digest(),
      media_type,
      object,
      created_at: now().toISOString(),
    };
    try {
      await this.#change(path, object, () =>
        putArtifact(this.#options.records, this.#options, value, previous),
      );
    } catch (error) {
      await this.#discard(object);
      throw error;
    }
    this.#note(value);
    if (previous !== undefined) await this.#discard(previous.object);
    return version;
  }

  /** Removes what is stored under a path. @throws LeaseLost */
  async remove(path: string): Promise<void> {
    const artifact = this.#known.get(path);
    if (artifact === undefined) return;
    await this.#change(path, undefined, () => removeArtifact(this.#options.records, this.#options, artifact));
    this.#known.delete(path);
    this.#bytes -= artifact.size;
    await this.#discard(artifact.object);
  }

  /** Uploads what the file is now. Errors that another try would not change are returned. */
  async #upload(
    path: string,
    handle: FileHandle,
    object: string,
    mediaType: string,
  ): Promise<FileBytes | Error> {
    const { objects, kind, maxBytes } = this.#options;
    const bytes = await FileBytes.of(handle);
    const total = this.#bytes - (this.#known.get(path)?.size ?? 0) + bytes.size;
    if (total > maxBytes) return new ArtifactLimit(kind, maxBytes);
    try {
      await objects.putStream(object, bytes.stream(), mediaType);
      return bytes;
    } catch (error) {
      if (error instanceof FileChanged) return error;
      throw error;
    }
  }

  /** Does a change after which `object` is what is recorded under the path. */
  async #change(path: string, object: string | undefined, change: () => Promise<void>): Promise<void> {
    const { records, experiment, kind } = this.#options;
    try {
      await persist(PATIENCE_SECONDS, change);
    } catch (cause) {
      if (!(cause instanceof ConditionFailed)) throw cause;
      // A try whose answer was lost makes the next one fail.
      const found = await persist(PATIENCE_SECONDS, () =>
        findArtifact(records, experiment.experiment_id, path, kind),
      );
      if (found?.object !== object) throw new LeaseLost({ cause });
    }
  }

  #note(artifact: Artifact): void {
    this.#bytes += artifact.size - (this.#known.get(artifact.path)?.size ?? 0);
    this.#known.set(artifact.path, artifact);
  }

  /** Deletes an object that no record names. One that remains goes with the experiment. */
  async #discard(object: string): Promise<void> {
    await this.#options.objects.delete([object]).catch(() => undefined);
  }
}
