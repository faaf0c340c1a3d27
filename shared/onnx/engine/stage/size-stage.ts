import { lstatSync } from 'node:fs';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';
import { gzipBytes, isSampled, sampledGzipBytes } from './gzip-size.ts';

/** gzip's own default; for whole models of this many bytes, its fastest, or it would take minutes. */
const usualLevel = 6;
const fastLevel = 1;
const fastFrom = 512 * 2 ** 20;

function fileBytes(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isFile()) throw new ModelError('A file of the model is not a regular one.');
  return stat.size;
}

/** Measures the files of the model and of its result, as they are and through gzip, each file by itself. */
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
