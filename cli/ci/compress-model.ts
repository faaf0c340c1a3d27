import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Receipt } from '../../shared/onnx/receipt/receipt.ts';
import type { CliContext } from '../context.ts';
import type { CiCompression } from './ci-compression.ts';
import type { CiPlan } from './ci-file.ts';
import { engineOutput } from './engine-output.ts';
import { copyNew } from './write-new.ts';

/** The result of a compression, and what its receipt says. */
export interface Compressed {
  path: string;
  /** Strategy and bits. */
  how: string;
  isUseless: boolean;
  notes: string[];
}

/** Name of the files that stay in the folder: the model with its data, and the receipt as JSON and as a drawing. */
const stem = 'mps-ci';

/**
 * Compress a model on this machine, as the file of gates says. The result and its receipt stay beside the report.
 *
 * @param scratch folder to work in
 * @throws CliError if nothing holds the bounds, or the values fit no strategy
 */
export async function compressModel(
  context: CliContext,
  { compress, data, inputs }: Pick<CiPlan, 'data' | 'inputs'> & { compress: CiCompression },
  { path, scratch }: { path: string; scratch: string },
): Promise<Compressed> {
  const { operation, strategy, calibration, flags } = compress;
  const within = join(scratch, 'compressed');
  const set = (name: string, file: string | undefined) =>
    file === undefined ? [] : [`--${name}=${resolve(context.folder, file)}`];
  await engineOutput(context, [
    ...[operation, path, `--strategy=${strategy}`, `--out=${join(within, `${stem}.onnx`)}`],
    ...flags,
    ...[...set('calibration', calibration), ...set('evaluation', data)],
    ...(inputs === undefined ? [] : [`--inputs=${inputs}`]),
  ]);
  for (const name of (await readdir(within)).filter((file) => file.startsWith(`${stem}.`)))
    await copyNew(join(within, name), join(context.folder, name));
  const text = await readFile(join(within, `${stem}.receipt.json`), 'utf8');
  const { is_useless, summary, request, candidates } = JSON.parse(text) as Receipt;
  const { precision, compression } = request;
  const chosen = candidates.find(({ is_chosen }) => is_chosen);
  return {
    path: join(within, `${stem}.onnx`),
    how: `${strategy}, ${operation === 'prune' ? `compression ${compression}` : `${precision} bits`}`,
    isUseless: is_useless,
    notes: [
      // The time is measured again, beside the base.
      ...(is_useless ? summary : []),
      ...(chosen === undefined
        ? []
        : [`${strategy} chose ${chosen.name} of ${candidates.length} candidates.`]),
      `The result is ${stem}.onnx, its receipt ${stem}.receipt.svg, of this job.`,
    ],
  };
}
