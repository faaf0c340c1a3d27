import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Receipt } from '../../shared/onnx/receipt/receipt.ts';
import { drawVariants } from './draw-variants.ts';
import type { Screen } from './screen.ts';
import { shortPath } from './short-path.ts';
import type { TypedCommand } from './typed-command.ts';
import type { Variant } from './variant.ts';

const Strategy = z.object({ strategy_id: z.string(), receipt: Receipt });

interface DemoRun {
  mps: TypedCommand;
  screen: Screen;
  /** Flags that name the project. */
  project: readonly string[];
  experiment_id: string;
  /** Where what the demo shows is saved. */
  folder: string;
}

interface Plan {
  title: string;
  /** The command that does it. */
  words: readonly [operation: 'prune' | 'quantize', ...rest: string[]];
}

/** Every way that the demo compresses the model; the last one goes on from the second. */
function plansFor(model: string): Plan[] {
  const half = `${model}-half`;
  const prune = (title: string, strategy: string, ...more: string[]): Plan => ({
    title,
    words: ['prune', model, '--strategy', strategy, '--compression', '2', ...more],
  });
  const quantize = (title: string, strategy: string, precision = '8', of = model): Plan => ({
    title,
    words: ['quantize', of, '--strategy', strategy, '--precision', precision],
  });
  return [
    prune('half the weights zero', 'magnitude_global'),
    prune('half the parameters', 'structured_l2', '--result-name', half),
    quantize('8 bits, static', 'static_minmax'),
    quantize('8 bits, dynamic', 'dynamic'),
    quantize('4 bits, weights', 'weight_only', '4'),
    quantize('half, then static', 'static_minmax', '8', half),
  ];
}

async function compress({ mps, screen, folder }: DemoRun, { title, words }: Plan): Promise<Variant> {
  screen.heading(`${words[0] === 'prune' ? 'Pruning' : 'Quantizing'}: ${title}`);
  const { strategy_id, receipt } = Strategy.parse(await mps.json(...words));
  const file = join(folder, `receipt-${title.replaceAll(/[^a-z0-9]+/gi, '-')}.svg`);
  await mps.json('receipt', strategy_id, '--svg', file);
  return { title, receipt };
}

const padded = (texts: readonly string[]): string =>
  texts.map((text, at) => (at === 0 ? text.padEnd(24) : text.padStart(14))).join('');

function showTable({ screen }: DemoRun, variants: readonly Variant[]): void {
  screen.heading('The digits model, compressed');
  screen.quote(padded(['', 'accuracy', 'parameters', 'bytes', 'gzip bytes', 'p50', 'speed']));
  const percent = (share: number | undefined) =>
    share === undefined ? '–' : `${(100 * share).toFixed(2)} %`;
  const row = (title: string, when: 'before' | 'after', receipt: Receipt) => {
    const { accuracy, parameters, file_bytes, gzip_bytes, latency } = receipt;
    const microseconds = latency === null ? '–' : `${(1000 * latency.p50[when]).toFixed(1)} µs`;
    const ratio =
      latency === null ? '–' : `${(1 / (when === 'before' ? latency.aa_ratio : latency.ratio)).toFixed(2)} ×`;
    const counts = [parameters[when], file_bytes[when], gzip_bytes?.[when]].map(
      (count) => count?.toLocaleString('en') ?? '–',
    );
    screen.quote(padded([title, percent(accuracy?.[when]), ...counts, microseconds, ratio]));
  };
  const [first] = variants;
  if (first !== undefined) row('as trained', 'before', first.receipt);
  for (const { title, receipt } of variants) row(title, 'after', receipt);
  screen.line();
  screen.quote(
    'Accuracy on the digits that were held back. Speed: times as fast as the model it was made of, for one digit,',
  );
  screen.quote('measured in alternation on one thread; in the first line, of the model against itself.');
}

/**
 * Goes on from a training that succeeded: registers its model, compresses it in every way and compares the results.
 * Returns true, for what fails is thrown.
 */
export async function optimizeDigits(run: DemoRun): Promise<boolean> {
  const { mps, screen, project, experiment_id, folder } = run;
  const model = `digits-${experiment_id}`;
  screen.heading('Registering the model');
  const sets = ['--calibration', 'digits-calibration.npz', '--evaluation', 'digits-test.npz'];
  await mps.succeed('models', 'push', model, 'digits.onnx', '--from', experiment_id, ...sets, ...project);
  const variants: Variant[] = [];
  // One after the other: they measure how fast the results are.
  for (const plan of plansFor(model)) variants.push(await compress(run, plan));
  showTable(run, variants);
  screen.line();
  const drawing = join(folder, 'compressed.svg');
  await writeFile(drawing, drawVariants(variants));
  screen.fact('drawing', shortPath(drawing));
  return true;
}
