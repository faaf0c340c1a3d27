import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { lineColours } from '../../../shared/drawing/metric-chart/line-colours.ts';
import { bytesText } from '../../../shared/onnx/receipt/amount-text.ts';
import { type BarPanel, drawBars } from '../../../shared/onnx/receipt/bar-panel.ts';
import { Receipt } from '../../../shared/onnx/receipt/receipt.ts';
import { pageWidth, renderPage } from '../../../shared/onnx/receipt/render-page.ts';
import { type Screen, shortPath } from './screen.ts';
import { serveDigits } from './serve-digits.ts';
import type { TypedCommand } from './typed-command.ts';

/**
 * Continue after a successful training: register its model, compress it in every way, compare the results, and serve
 * the first one. Return whether the served model reads a digit right; any other failure throws.
 */
export async function optimizeDigits(run: DemoRun): Promise<boolean> {
  const { mps, screen, project, experiment_id, folder } = run;
  const model = `digits-${experiment_id}`;
  screen.heading('Registering the model');
  const sets = ['--calibration', 'digits-calibration.npz', '--evaluation', 'digits-test.npz'];
  await mps.succeed('models', 'push', model, 'digits.onnx', '--from', experiment_id, ...sets, ...project);
  const variants: Variant[] = [];
  // Run them in sequence, because they measure the speed of the results.
  for (const plan of plansFor(model)) variants.push(await compress(run, plan, variants));
  showTable(run, variants);
  screen.line();
  const drawing = join(folder, 'compressed.svg');
  await writeFile(drawing, drawVariants(variants));
  screen.fact('drawing', shortPath(drawing));
  const [first] = variants;
  return first !== undefined && serveDigits({ mps, screen, model, folder, strategy_id: first.strategy_id });
}

interface DemoRun {
  mps: TypedCommand;
  screen: Screen;
  /** Flags that name the project. */
  project: readonly string[];
  experiment_id: string;
  /** Folder for saved results. */
  folder: string;
}

/** A compressed model with its receipt. */
interface Variant {
  title: string;
  strategy_id: string;
  receipt: Receipt;
  /** Speedup over the trained model; undefined if it was not measured. */
  speed: number | undefined;
}

/** Return every way in which the demo compresses the model. */
function plansFor(model: string): Plan[] {
  const prune = (title: string, strategy: string, compression: number, ...more: string[]): Plan => ({
    title,
    words: ['prune', model, '--strategy', strategy, '--compression', String(compression), ...more],
  });
  const quantize = (title: string, of = model, from?: string): Plan => ({
    title,
    ...(from !== undefined && { from }),
    words: ['quantize', of, '--strategy', 'static_minmax', '--precision', '8'],
  });
  const [half, quarter] = [`${model}-half`, `${model}-quarter`];
  return [
    quantize('8 bits'),
    prune('half, by norm alone', 'structured_l2', 2),
    prune('half', 'structured_reconstruct', 2, '--result-name', half),
    quantize('half, 8 bits', half, 'half'),
    prune('a quarter', 'structured_reconstruct', 4, '--result-name', quarter),
    quantize('a quarter, 8 bits', quarter, 'a quarter'),
  ];
}

interface Plan {
  title: string;
  /** Title of the plan whose result is the input; default the trained model. */
  from?: string;
  /** Arguments of `mps`. */
  words: readonly [operation: 'prune' | 'quantize', ...rest: string[]];
}

const Compression = z.object({ strategy_id: z.string(), receipt: Receipt });

async function compress(
  { mps, screen, folder }: DemoRun,
  plan: Plan,
  before: readonly Variant[],
): Promise<Variant> {
  const { title, words } = plan;
  screen.heading(`${words[0] === 'prune' ? 'Pruning' : 'Quantizing'}: ${title}`);
  const { strategy_id, receipt } = Compression.parse(await mps.json(...words));
  const file = join(folder, `receipt-${title.replaceAll(/[^a-z0-9]+/gi, '-')}.svg`);
  await mps.json('receipt', strategy_id, '--svg', file);
  const speed = speedOf(
    receipt,
    before.find((one) => one.title === plan.from),
  );
  return { title, strategy_id, receipt, speed };
}

/** Return the speedup of a result over the trained model. For a result of a result, multiply both measurements. */
function speedOf({ latency }: Receipt, from: Variant | undefined): number | undefined {
  const own = latency === null ? undefined : 1 / latency.ratio;
  if (from === undefined || own === undefined) return own;
  return from.speed === undefined ? undefined : own * from.speed;
}

function showTable({ screen }: DemoRun, variants: readonly Variant[]): void {
  screen.heading('The digits model, compressed');
  screen.quote(padded(['', 'accuracy', 'parameters', 'bytes', 'p50', 'speed']));
  const percent = (share: number | undefined) =>
    share === undefined ? '–' : `${(100 * share).toFixed(2)} %`;
  const times = (speed: number | undefined) => (speed === undefined ? '–' : `${speed.toFixed(2)} ×`);
  const row = (title: string, when: 'before' | 'after', receipt: Receipt, speed: number | undefined) => {
    const { accuracy, parameters, file_bytes, latency } = receipt;
    const microseconds = latency === null ? '–' : `${(1000 * latency.p50[when]).toFixed(1)} µs`;
    const counts = [parameters[when], file_bytes[when]].map((count) => count.toLocaleString('en'));
    screen.quote(padded([title, percent(accuracy?.[when]), ...counts, microseconds, times(speed)]));
  };
  const [first] = variants;
  if (first !== undefined) row('as trained', 'before', first.receipt, 1);
  for (const { title, receipt, speed } of variants) row(title, 'after', receipt, speed);
  screen.line();
  screen.quote('Accuracy on held-back digits. Speed: relative to the trained model, for one digit,');
  screen.quote('each result measured in alternation with its source model, on one thread.');
}

const padded = (texts: readonly string[]): string =>
  texts.map((text, at) => (at === 0 ? text.padEnd(24) : text.padStart(14))).join('');

/** Draw the compressed models side by side, as an SVG page. */
const drawVariants = (variants: readonly Variant[]): string =>
  renderPage({
    title: 'The digits model, compressed',
    description: variants
      .map(({ title, receipt }) => `${title}: ${bytesText(receipt.file_bytes.after)}.`)
      .join(' '),
    lines: [],
    rows: measures.map((measure) => [drawBars(panelOf(measure, variants), pageWidth)]),
  });

const measures: readonly Measure[] = [
  {
    title: 'Accuracy',
    subtitle: 'accuracy on held-back digits',
    scale: 'share',
    before: ({ accuracy }) => accuracy?.before,
    after: ({ receipt }) => receipt.accuracy?.after,
    text: (share) => `${(100 * share).toFixed(2)} %`,
  },
  {
    title: 'Size',
    subtitle: 'of the file',
    scale: 'all',
    before: ({ file_bytes }) => file_bytes.before,
    after: ({ receipt }) => receipt.file_bytes.after,
    text: bytesText,
  },
  {
    title: 'Speed',
    subtitle: 'speed relative to the trained model, one digit on one thread',
    scale: 'all',
    before: () => 1,
    after: ({ speed }) => speed,
    text: (ratio) => `${ratio.toFixed(2)} ×`,
  },
];

interface Measure {
  title: string;
  subtitle: string;
  scale: BarPanel['scale'];
  /** Value of the trained model, from the receipt of any result. */
  before(receipt: Receipt): number | undefined;
  after(variant: Variant): number | undefined;
  text(value: number): string;
}

function panelOf(
  { title, subtitle, scale, before, after, text }: Measure,
  variants: readonly Variant[],
): BarPanel {
  const row = (label: string, amount: number | undefined, colour: string) => ({
    label,
    bars: amount === undefined ? [] : [{ value: amount, text: text(amount), colour }],
  });
  const [first] = variants;
  const trained = first && before(first.receipt);
  return {
    title,
    subtitle,
    scale,
    rows: [
      row('as trained', trained, lineColours['train']),
      ...variants.map((variant) => row(variant.title, after(variant), lineColours[''])),
    ],
  };
}
