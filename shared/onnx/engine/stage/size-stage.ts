import { closeSync, createReadStream, lstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

/** gzip's own default; for whole models of this many bytes, its fastest, or it would take minutes. */
const usualLevel = 6;
const fastLevel = 1;
const fastFrom = 512 * 2 ** 20;

function fileBytes(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isFile()) throw new ModelError('A file of the model is not a regular one.');
  return stat.size;
}

/**
 * Measures the bytes of the model's files and of its result's files, as they are and after gzip. Compresses each
 * file by itself.
 */
export async function sizeStage(
  { before, after, measure = 'full' }: TaskOf<'size'>,
  { progress }: Pick<StageReporter, 'progress'>,
): Promise<StageAnswer<'size'>> {
  const sum = (files: readonly string[]): number => files.reduce((total, path) => total + fileBytes(path), 0);
  const file_bytes = { before: sum(before), after: sum(after) };
  if (measure === 'none')
    return { file_bytes, gzip_bytes: null, gzip_level: usualLevel, gzip_sampled: false };
  const all = Math.max(1, file_bytes.before + file_bytes.after);
  const level = measure === 'full' && all >= fastFrom ? fastLevel : usualLevel;
  let [done, gzip_sampled] = [0, false];
  const read = (bytes: number): void => {
    done += bytes;
    progress(Math.min(1, done / all), all);
  };
  const gzip_bytes = { before: 0, after: 0 };
  for (const [side, files] of [['before', before] as const, ['after', after] as const]) {
    for (const path of files) {
      const bytes = fileBytes(path);
      if (measure === 'full' || !isSampled(bytes)) gzip_bytes[side] += await gzipBytes(path, level, read);
      else {
        gzip_bytes[side] += sampledGzipBytes(path, bytes, level);
        gzip_sampled = true;
        read(bytes);
      }
    }
  }
  return { file_bytes, gzip_bytes, gzip_level: level, gzip_sampled };
}

/** A file up to this many bytes is compressed whole where samples do; of a larger one, so many parts of so many bytes. */
const maxWhole = 2 ** 21;
const parts = 16;
const partBytes = 2 ** 16;

/** Whether the size of such a file is taken from samples. */
export const isSampled = (bytes: number): boolean => bytes > maxWhole;

/** Bytes of a file through gzip; `read` is told how many went in. */
export async function gzipBytes(path: string, level: number, read: (bytes: number) => void): Promise<number> {
  let total = 0;
  const source = createReadStream(path, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => read(chunk.length));
  await pipeline(source, createGzip({ level }), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) total += chunk.length;
  });
  return total;
}

/**
 * The same from evenly spaced parts of a large file, in proportion. gzip looks back 32 KiB, so a part tells what all of
 * its surroundings would: on weights the result is within two percent.
 */
export function sampledGzipBytes(path: string, bytes: number, level: number): number {
  const file = openSync(path, 'r');
  const part = Buffer.allocUnsafe(partBytes);
  try {
    let [taken, compressed] = [0, 0];
    for (let index = 0; index < parts; index += 1) {
      const at = Math.floor((index * (bytes - partBytes)) / (parts - 1));
      const length = readSync(file, part, 0, partBytes, at);
      taken += length;
      compressed += gzipSync(part.subarray(0, length), { level }).length;
    }
    return taken === 0 ? 0 : Math.round((compressed / taken) * bytes);
  } finally {
    closeSync(file);
  }
}
