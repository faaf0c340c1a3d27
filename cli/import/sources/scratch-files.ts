import { createReadStream } from 'node:fs';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SourceFile } from '../source.ts';
import type { Omissions } from './omissions.ts';

/**
 * Files that an import makes of a run's values, in a temporary folder. They have numbers there, so no name of a source
 * reaches the file system.
 */
export class ScratchFiles {
  #folder: string | undefined;
  readonly #files = new Map<string, { local: string; size: number; lines: string[] }>();
  /** Numbers of further files of one path. */
  readonly #counts = new Map<string, number>();

  /** Number of files. */
  get count(): number {
    return this.#files.size;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** Make a file. Where there is one of this path, the number before the step tells them apart. */
  async write(path: string, content: Uint8Array | string): Promise<void> {
    const file = await this.#fileAt(this.free(path));
    const bytes = Buffer.from(content as string);
    await writeFile(file.local, bytes);
    file.size = bytes.length;
  }

  /** Keep a histogram of a run as a file. Beyond a number of files, keep it as a line of one. */
  async addHistogram(
    { key, step, bins, values }: { key: string; step: number; bins: unknown; values: unknown },
    omissions: Omissions,
  ): Promise<void> {
    const path = `histograms/${key}_step_${step}.json`;
    if (this.count < maxFiles) return this.write(path, JSON.stringify({ bins, values }));
    omissions.add(`histograms beyond ${maxFiles} files of a run: in ${histogramLines}`);
    return this.addLine(histogramLines, JSON.stringify({ key, step, bins, values }));
  }

  async addLine(path: string, line: string): Promise<void> {
    await this.addText(path, `${line}\n`);
  }

  async addText(path: string, text: string): Promise<void> {
    const file = await this.#fileAt(path);
    file.lines.push(text);
    if (file.lines.length >= linesAtOnce) await flush(file);
  }

  /**
   * Return a path that no file has: the same, or with a number before its step or its ending, as W&B's media have.
   * @param isTaken whether a file has a path
   */
  free(path: string, isTaken = (one: string): boolean => this.#files.has(one)): string {
    let free = path;
    for (let count = (this.#counts.get(path) ?? 0) + 1; isTaken(free); count += 1) {
      free = path.replace(/(?=_step_-?\d+(?:\.\w+)*$)|(?=(?:\.\w+)?$)/, `.${count}`);
      this.#counts.set(path, count);
    }
    return free;
  }

  async #fileAt(path: string): Promise<{ local: string; size: number; lines: string[] }> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'mps-import-'));
    const local = join(this.#folder, String(this.#files.size));
    const file = this.#files.get(path) ?? { local, size: 0, lines: [] };
    this.#files.set(path, file);
    return file;
  }

  async list(): Promise<SourceFile[]> {
    for (const file of this.#files.values()) await flush(file);
    return [...this.#files].map(([path, { size }]) => ({ path, size }));
  }

  /** Open a file of {@link list}. */
  open(path: string): Readable {
    return createReadStream(this.#files.get(path)?.local ?? '');
  }

  async remove(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Files made of one run: a histogram of each step of a long training would be thousands. */
const maxFiles = 2000;

const histogramLines = 'import/histograms.ndjson';

const linesAtOnce = 1000;

async function flush(file: { local: string; size: number; lines: string[] }): Promise<void> {
  if (file.lines.length === 0) return;
  const text = file.lines.splice(0).join('');
  await appendFile(file.local, text);
  file.size += Buffer.byteLength(text);
}
