import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { Receipt } from '../../shared/onnx/receipt/receipt.ts';
import { CommandError } from '../command/command-error.ts';
import { hasEnded } from './demo-experiment.ts';
import { drawVariants } from './draw-variants.ts';
import type { Screen } from './screen.ts';
import { pathOf, type ServiceClient } from './service-client.ts';
import { shortPath } from './short-path.ts';
import type { Variant } from './variant.ts';

const pollMilliseconds = 300;

const CreatedStrategy = z.object({ strategy_id: z.string() });
const Strategy = z.object({
  status: z.string(),
  status_reason: z.string().nullable(),
  progress: z.object({ stage: z.string(), fraction: z.number() }).nullable(),
  receipt: Receipt.nullable(),
});

interface DemoRun {
  client: ServiceClient;
  screen: Screen;
  experiment_id: string;
  /** Where what the demo shows is saved. */
  folder: string;
}

interface Plan {
  title: string;
  operation: 'prune' | 'quantize';
  query: Readonly<Record<string, string>>;
}

/** Every way that the demo compresses the model; the last one goes on from the second. */
function plansFor(model_name: string): Plan[] {
  const half = `${model_name}-half`;
  const shapes = { inputs: '?x64', outputs: '[?];[?,10]' };
  const prune = (title: string, query: Record<string, string>): Plan => ({
    title,
    operation: 'prune',
    query: { model_name, ...shapes, compression: '2', ...query },
  });
  const quantize = (title: string, query: Record<string, string>): Plan => ({
    title,
    operation: 'quantize',
    query: { model_name, precision: '8', ...query },
  });
  return [
    prune('half the weights zero', { strategy: 'magnitude_global' }),
    prune('half the parameters', { strategy: 'structured_l2', result_name: half }),
    quantize('8 bits, static', { strategy: 'static_minmax' }),
    quantize('8 bits, dynamic', { strategy: 'dynamic' }),
    quantize('4 bits, weights', { strategy: 'weight_only', precision: '4' }),
    quantize('half, then static', { strategy: 'static_minmax', model_name: half }),
  ];
}

/** Waits for a strategy and shows its stages. */
async function follow({ client, screen }: DemoRun, path: string): Promise<Receipt> {
  const startedAt = Date.now();
  let shown = '';
  for (;;) {
    const { status, status_reason, progress, receipt } = await client.json(Strategy, 'GET', path);
    const state = progress === null || hasEnded({ status }) ? status : `${status}: ${progress.stage}`;
    if (state !== shown) screen.progress((Date.now() - startedAt) / 1000, 'status', state);
    shown = state;
    if (status === 'SUCCEEDED' && receipt !== null) return receipt;
    if (hasEnded({ status }))
      throw new CommandError(`The job ended ${status}: ${status_reason ?? 'no reason is known'}`);
    await delay(pollMilliseconds);
  }
}

async function save({ folder }: DemoRun, name: string, text: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, name);
  await writeFile(file, text);
  return shortPath(file);
}

/** The page of a receipt, saved under the name of its method. */
async function saveReceipt(run: DemoRun, path: string, plan: Plan): Promise<void> {
  const name = `receipt-${plan.title.replaceAll(/[^a-z0-9]+/gi, '-')}.svg`;
  run.screen.fact('receipt', await save(run, name, await run.client.text('image/svg+xml', path)));
}

async function compress(run: DemoRun, plan: Plan): Promise<Variant> {
  const { client, screen } = run;
  const { operation, query } = plan;
  screen.heading(`${operation === 'prune' ? 'Pruning' : 'Quantizing'}: ${plan.title} (${query['strategy']})`);
  const begun = await client.json(CreatedStrategy, 'POST', pathOf('optimization', operation), { query });
  const path = pathOf('optimization', operation, 'strategies', begun.strategy_id);
  const receipt = await follow(run, path);
  await saveReceipt(run, path, plan);
  return { title: plan.title, receipt };
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
    const counts = [parameters[when], file_bytes[when], gzip_bytes[when]].map((count) =>
      count.toLocaleString('en'),
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
  const { client, screen, experiment_id } = run;
  const model_name = `digits-${experiment_id}`;
  screen.heading('Registering the model');
  await client.send('POST', pathOf('optimization', 'models', model_name), {
    query: {
      experiment_id,
      path: 'digits.onnx',
      calibration: 'digits-calibration.npz',
      evaluation: 'digits-test.npz',
    },
  });
  screen.fact('model', model_name);
  const variants: Variant[] = [];
  // One after the other: they measure how fast the results are.
  for (const plan of plansFor(model_name)) variants.push(await compress(run, plan));
  showTable(run, variants);
  screen.line();
  screen.fact('drawing', await save(run, 'compressed.svg', drawVariants(variants)));
  return true;
}
