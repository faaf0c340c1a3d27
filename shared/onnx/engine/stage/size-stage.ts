import { closeSync, createReadStream, lstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

/**
 * gzip's default level. Whole models of at least `fastFrom` bytes use the fastest level, because the default would
 * take minutes.
 */
const usualLevel = 6;
const fastLevel = 1;
const fastFrom = 512 * 2 ** 20;

function fileBytes(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isFile()) throw new ModelError('A file of the model is not a regular file.');
  return stat.size;
}

/**
 * Measure the bytes of the model's files and of the result's files, uncompressed and after gzip. Compress each
 * file separately.
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

/**
 * When sampling, files up to `maxWhole` bytes are compressed whole. Larger files are sampled in `parts` parts of
 * `partBytes` bytes.
 */
const maxWhole = 2 ** 21;
const parts = 16;
const partBytes = 2 ** 16;

/** Whether the compressed size of a file with these bytes is estimated from samples. */
export const isSampled = (bytes: number): boolean => bytes > maxWhole;

/** Return the gzipped size of a file. `read` receives the number of bytes read. */
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
 * Estimate the gzipped size from evenly spaced parts of a large file. gzip looks back 32 KiB, so a part is
 * representative of its surroundings: on weights the estimate is within two percent.
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
