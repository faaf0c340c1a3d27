import { createReadStream, lstatSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ModelError } from '../model-error.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { TaskOf } from '../stage-task/stage-task.ts';
import type { StageReporter } from './stage-reporter.ts';

/** gzip's own default; for models of this many bytes, its fastest, or it would take minutes. */
const usualLevel = 6;
const fastLevel = 1;
const fastFrom = 512 * 2 ** 20;

function fileBytes(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isFile()) throw new ModelError('A file of the model is not a regular one.');
  return stat.size;
}

async function gzipBytes(path: string, level: number, read: (bytes: number) => void): Promise<number> {
  let total = 0;
  const source = createReadStream(path, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => read(chunk.length));
  await pipeline(source, createGzip({ level }), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) total += chunk.length;
  });
  return total;
}

/** Measures the files of the model and of its result, as they are and through gzip, each file by itself. */
export async function sizeStage(
  { before, after }: TaskOf<'size'>,
  { progress }: Pick<StageReporter, 'progress'>,
): Promise<StageAnswer<'size'>> {
  const sum = (files: readonly string[]): number => files.reduce((total, path) => total + fileBytes(path), 0);
  const file_bytes = { before: sum(before), after: sum(after) };
  const all = Math.max(1, file_bytes.before + file_bytes.after);
  const level = all >= fastFrom ? fastLevel : usualLevel;
  let done = 0;
  const gzip_bytes = { before: 0, after: 0 };
  for (const [side, files] of [['before', before] as const, ['after', after] as const]) {
    for (const path of files) {
      gzip_bytes[side] += await gzipBytes(path, level, (bytes) => {
        done += bytes;
        progress(Math.min(1, done / all));
      });
    }
  }
  return { file_bytes, gzip_bytes, gzip_level: level };
}
