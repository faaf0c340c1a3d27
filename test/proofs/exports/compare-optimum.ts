import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = import.meta.dirname;
const root = join(here, '../../..');

/** An exported model, beside which Optimum's is put. */
export interface Exported {
  name: string;
  task: string;
  /** The model as the Hub has it. */
  repository: string;
  /** What the exporter wrote. */
  out: string;
}

/** A file: its bytes, its loss (1 less the agreement with PyTorch) and the relative error of its outputs. */
interface Judged {
  bytes: number;
  loss: number;
  error: number;
}

export interface OptimumRow {
  name: string;
  /** Why Optimum could not export the model: then its file is made of ours. */
  reason: string | null;
  ours: Judged;
  optimum: Judged;
}

/**
 * Quantize a model to 8 bits here and by Optimum, as the users of both do, and judge both files by PyTorch on 500 texts or
 * pictures that neither has seen.
 */
export async function compareWithOptimum(
  { name, task, repository, out }: Exported,
  { python, optimum }: { python: string; optimum: string },
): Promise<OptimumRow> {
  const folder = join(out, 'compared');
  await mkdir(folder, { recursive: true });
  await copyFile(join(out, 'model.onnx'), join(folder, 'model.onnx'));
  await writeFile(join(folder, 'about.json'), JSON.stringify({ repository, task }));
  await run(optimum, [join(here, 'optimum_int8.py'), folder], { maxBuffer: 10_000_000 });
  const sets = ['calibration', 'evaluation'].flatMap((set) => [`--${set}`, join(out, `${set}.npz`)]);
  const request = ['--strategy', 'dynamic', '--precision', '8', '--for', 'avx512-vnni', '--measure', 'none'];
  const files = [join(folder, 'model.onnx'), '--out', join(folder, 'ours.onnx'), '--force'];
  const quantize = ['run', '--silent', 'optimize', '--', 'quantize', ...files, ...request, ...sets];
  await run('npm', quantize, { cwd: root, maxBuffer: 10_000_000 });
  await run(python, [join(here, 'judge_files.py'), folder], { maxBuffer: 10_000_000 });
  const read = async (file: string) => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const { ours, optimum: theirs } = await read('judged.json');
  return { name, reason: (await read('optimum.json')).reason, ours, optimum: theirs };
}

/** Whether ours is no larger, and loses no more than Optimum's. */
export const isAsGood = ({ ours, optimum }: OptimumRow): boolean =>
  ours.bytes <= optimum.bytes && ours.loss <= optimum.loss;

export function rowText({ name, reason, ours, optimum }: OptimumRow): string {
  const cells = [optimum, ours].flatMap(({ bytes, loss, error }) => [
    `${(bytes / 1000).toFixed(0)} KB`,
    `${(100 * loss).toFixed(2)} %`,
    error.toFixed(4),
  ]);
  return `| ${[name, ...cells, reason ?? ''].join(' | ')} |`;
}
