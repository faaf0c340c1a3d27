import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Digest } from '../digest.ts';
import type { IndexRow } from '../manifest.ts';
import type { ExportContext, PlannedFile } from './export-context.ts';

/**
 * One part of an export: a list of its files, and one object with the documents among them. Each writer uses new
 * object names, so two concurrent passes do not overwrite each other.
 */
export class PieceWriter {
  readonly rows: PlannedFile[] = [];
  readonly #context: Pick<ExportContext, 'objects' | 'newId'>;
  readonly #prefix: string;
  readonly #began = performance.now();
  #documents: { object: string; bytes: PassThrough; stored: Promise<void>; offset: number } | undefined;

  constructor(context: Pick<ExportContext, 'objects' | 'newId'>, prefix: string) {
    this.#context = context;
    this.#prefix = prefix;
  }

  isFull(): boolean {
    return this.rows.length >= maxRows || performance.now() - this.#began > maxMilliseconds;
  }

  /** Add a document. Skip an empty one. */
  async document(
    path: string,
    parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
    attributes: Attributes = {},
  ): Promise<void> {
    const digest = new Digest();
    this.#documents ??= this.#begin();
    const { object, bytes, stored, offset } = this.#documents;
    for await (const part of parts) {
      const chunk = Buffer.from(part);
      if (chunk.length === 0) continue;
      digest.add(chunk);
      // If storing fails, stop waiting for the drain event.
      if (!bytes.write(chunk)) await Promise.race([once(bytes, 'drain'), stored]);
    }
    this.#documents.offset += digest.size;
    if (digest.size > 0) this.rows.push({ path, ...digest.end(), ...attributes, object, offset });
  }

  #begin() {
    const object = `${this.#prefix}documents-${this.#context.newId()}`;
    const bytes = new PassThrough({ highWaterMark: 1024 * 1024 });
    const stored = this.#context.objects.putStream(object, bytes, 'application/octet-stream');
    stored.catch((error: unknown) => bytes.destroy(error instanceof Error ? error : undefined));
    bytes.on('error', () => undefined);
    return { object, bytes, stored, offset: 0 };
  }

  /** Discard the documents. */
  async abandon(): Promise<void> {
    this.#documents?.bytes.destroy(new Error('the export was abandoned'));
    await this.#documents?.stored.catch(() => undefined);
  }

  /** Store the piece. @returns id of the piece; undefined for an empty one */
  async end(): Promise<string | undefined> {
    this.#documents?.bytes.end();
    await this.#documents?.stored;
    if (this.rows.length === 0) return undefined;
    const id = this.#context.newId();
    const lines = this.rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    await this.#context.objects.put(
      pieceObject(this.#prefix, id),
      Buffer.from(lines),
      'application/x-ndjson',
    );
    return id;
  }
}

const maxRows = 2000;

/**
 * Age in milliseconds at which a piece is stored; a size limit applies as well. A crash loses at most this much
 * work.
 */
const maxMilliseconds = 10_000;

type Attributes = Pick<IndexRow, 'media_type' | 'created_at'>;

/** Object key of a piece's list. */
export const pieceObject = (prefix: string, id: string): string => `${prefix}piece-${id}`;
