import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

/** The log's file and the one before it, together, at most. */
const maxLogBytes = 10 * 1024 * 1024;

/**
 * Write the output of a process to `path`. When that file is half the limit, it becomes `path.1` and a new one
 * begins: the end of a log is worth more than its beginning. Errors of the disk end the log, not the process.
 * @returns when all streams have ended
 */
export async function writeLog(
  path: string,
  streams: readonly Readable[],
  limit = maxLogBytes,
): Promise<void> {
  const log = new TurningFile(path, limit / 2);
  await Promise.all(
    streams.map(async (stream) => {
      try {
        for await (const chunk of stream) await log.append(Buffer.from(chunk)).catch(() => undefined);
      } catch {
        // The stream was destroyed because the process is gone.
      }
    }),
  );
  await log.close().catch(() => undefined);
}

/** Removes the logs whose file names begin with this. */
export async function removeLogs(folder: string, prefix: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name.startsWith(prefix)) await rm(join(folder, name), { force: true });
}

class TurningFile {
  readonly #path: string;
  readonly #turnAt: number;
  #file: FileHandle | undefined;
  #size = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(path: string, turnAt: number) {
    this.#path = path;
    this.#turnAt = turnAt;
  }

  append(chunk: Buffer): Promise<void> {
    const mine = this.#turn.then(() => this.#append(chunk));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#file?.close();
  }

  async #append(chunk: Buffer): Promise<void> {
    if (this.#size + chunk.length > this.#turnAt && this.#size > 0) {
      await this.#file?.close();
      this.#file = undefined;
      await rename(this.#path, `${this.#path}.1`);
    }
    if (this.#file === undefined) {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#file = await open(this.#path, 'w', 0o600);
      this.#size = 0;
    }
    await this.#file.appendFile(chunk);
    this.#size += chunk.length;
  }
}
