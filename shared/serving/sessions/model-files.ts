import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ObjectReader } from '../../aws/objects.ts';
import { ServiceError } from '../../core/service-error.ts';
import { isPreprocessing } from '../../data/models/preprocessing-names.ts';
import type { ServedFile, ServedVersion } from '../../data/models/serving.ts';

/**
 * The SHA-256 of all that the process of a version reads: the same ONNX file with another tokenizer is another model. A model
 * without a tokenizer has its own digest.
 */
export function contentDigest({ digest, files }: Pick<ServedVersion, 'digest' | 'files'>): string {
  const preprocessing = files.filter(({ name }) => isPreprocessing(name));
  if (preprocessing.length === 0) return digest;
  const lines = preprocessing.map(({ sha256, name }) => `${sha256} ${name}\n`).sort();
  return createHash('sha256')
    .update([`${digest} model\n`, ...lines].join(''))
    .digest('hex');
}

/** Files of models on this machine's disk, by digest. The least recently used ones make room. */
export class ModelFiles {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Bytes of complete models by digest, the least recently used first. */
  readonly #kept = new Map<string, number>();

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /**
   * Return the folder with the files of a version. Download them if they are missing, and compare their SHA-256.
   * @throws ServiceError `not-found` if they were deleted, `conflict` if they are damaged
   */
  async fetch(
    objects: Pick<ObjectReader, 'read'>,
    version: Pick<ServedVersion, 'digest' | 'bytes' | 'files'>,
    isInUse: (digest: string) => boolean,
  ): Promise<string> {
    const { bytes, files } = version;
    const digest = contentDigest(version);
    const target = join(this.#folder, digest);
    if (this.#kept.delete(digest)) {
      this.#kept.set(digest, bytes);
      return target;
    }
    await this.#makeRoom(bytes, isInUse);
    this.#kept.set(digest, bytes);
    const unfinished = `${target}.part`;
    try {
      await rm(unfinished, { recursive: true, force: true });
      await mkdir(unfinished, { recursive: true });
      for (const file of files) await download(objects, file, unfinished);
      await rename(unfinished, target);
    } catch (error) {
      this.#kept.delete(digest);
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
    return target;
  }

  async #makeRoom(bytes: number, isInUse: (digest: string) => boolean): Promise<void> {
    let left = this.#maxBytes - [...this.#kept.values()].reduce((sum, one) => sum + one, 0);
    for (const [digest, size] of this.#kept) {
      if (left >= bytes) return;
      if (isInUse(digest)) continue;
      this.#kept.delete(digest);
      await rm(join(this.#folder, digest), { recursive: true, force: true });
      left += size;
    }
    if (left >= bytes) return;
    const detail = 'The models that answer at the moment take the whole disk. Try again shortly.';
    throw new ServiceError('unavailable', detail, { retryAfterSeconds: 2 });
  }
}

async function download(
  objects: Pick<ObjectReader, 'read'>,
  { name, size, sha256, object }: ServedFile,
  folder: string,
): Promise<void> {
  const source = await objects.read(object);
  if (source === undefined) {
    throw new ServiceError('not-found', `The file ${name} of this version was deleted.`);
  }
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(bytes > size ? new Error('longer than recorded') : null, chunk);
    },
  });
  await mkdir(dirname(join(folder, name)), { recursive: true });
  const isWhole = await pipeline(source, measure, createWriteStream(join(folder, name))).then(
    () => bytes === size && hash.digest('hex') === sha256,
    (error: unknown) => {
      if (error instanceof Error && error.message === 'longer than recorded') return false;
      throw error;
    },
  );
  if (!isWhole) {
    throw new ServiceError(
      'conflict',
      `The file ${name} of this version is damaged in storage: it does not have the SHA-256 ${sha256}. Upload the model again.`,
    );
  }
}
