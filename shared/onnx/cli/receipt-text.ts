import { drawable } from '../../drawing/drawn-text.ts';
import {
  amountText,
  bytesText,
  errorText,
  factorText,
  millisecondsText,
  secondsText,
  shareText,
  speedText,
} from '../receipt/amount-text.ts';
import { batchSize } from '../receipt/batch-size.ts';
import type { Receipt } from '../receipt/receipt.ts';

const linesShown = 12;
const layersShown = 5;

interface Change {
  before: number;
  after: number;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

const change = (name: string, { before, after }: Change, text: (value: number) => string): string[] => [
  name,
  text(before),
  '→',
  text(after),
  factorText(before, after),
];

const latencyChange = (name: string, { before, after }: Change): string[] => [
  ...change(name, { before, after }, millisecondsText).slice(0, -1),
  before > 0 ? speedText(after / before) : '',
];

const list = (title: string, lines: readonly string[]): string[] => {
  if (lines.length === 0) return [];
  const others = lines.length - linesShown;
  return [
    title,
    ...lines.slice(0, linesShown).map((line) => `  ${line}`),
    ...(others > 0 ? [`  and ${others} more`] : []),
  ];
};

function outputLines({ outputs, checked_layers, run_as_whole, compared_on }: Receipt): string[] {
  const rows = run_as_whole
    ? outputs.map(({ name, relative_l2_error: error, why }) => ({ name, error, why }))
    : checked_layers.map(({ layer, relative_l2_error: error, why }) => ({ name: layer, error, why }));
  const lines = rows.map(({ name, error, why }) => `${name}  ${error === null ? why : errorText(error)}`);
  return list(
    run_as_whole
      ? `Relative error of the outputs${compared_on === null ? '' : ` over the first ${compared_on.samples} samples (${compared_on.source})`}`
      : 'Relative error of layers (not run as a whole)',
    lines,
  );
}

/** List the layers with the largest relative error of their weights. */
function contributionLines({ layers }: Receipt): string[] {
  const changed = layers
    .filter(({ error }) => error !== null && error > 0)
    .toSorted((a, b) => (b.error ?? 0) - (a.error ?? 0))
    .slice(0, layersShown);
  return list(
    'Weights with the largest relative error',
    changed.map(({ layer, error }) => `${errorText(error ?? 0)}  ${layer}`),
  );
}

/** List the candidates of `auto` that no other candidate beats in both size and loss. */
function candidateLines({ candidates }: Receipt): string[] {
  const front = candidates.filter(({ is_on_front, is_chosen }) => is_on_front || is_chosen);
  const rows = front.map(({ name, file_bytes, loss, latency_ratio, holds, is_chosen }) => [
    is_chosen ? '→' : ' ',
    bytesText(file_bytes),
    `loses ${loss === null ? 'all' : errorText(loss)}`,
    latency_ratio === null ? '' : speedText(latency_ratio),
    holds ? '' : 'too much',
    name,
  ]);
  return rows.length === 0
    ? []
    : [`The best of ${candidates.length} candidates, smallest first`, ...table(rows)];
}

/** Format a receipt as plain text. */
export function receiptText(receipt: Receipt): string {
  const { latency, latency_batch, accuracy, pruning } = receipt;
  const rows = [
    ...(accuracy === null ? [] : [change('accuracy', accuracy, shareText)]),
    change('file', receipt.file_bytes, bytesText),
    ...(receipt.gzip_bytes === null
      ? []
      : [change(receipt.gzip_sampled ? 'gzip, about' : 'gzip', receipt.gzip_bytes, bytesText)]),
    change('parameters', receipt.parameters, amountText),
    change('other than zero', receipt.nonzero_parameters, amountText),
    ...(latency === null
      ? []
      : [latencyChange('latency p50', latency.p50), latencyChange('latency p90', latency.p90)]),
    ...(latency_batch === null
      ? []
      : [latencyChange(`p50, batch ${batchSize(latency_batch)}`, latency_batch.p50)]),
  ];
  const reached =
    pruning === null
      ? []
      : [
          `Prunable parameters ÷ ${pruning.reached.toFixed(2)}, parameters of the whole model ÷ ${pruning.model_ratio.toFixed(2)}`,
        ];
  const stages = receipt.stages.map(({ name, seconds, peak_memory_bytes: bytes }) => [
    name,
    secondsText(seconds),
    bytesText(bytes),
  ]);
  return [
    ...receipt.summary,
    ...list('Warnings', receipt.warnings),
    'Before and after',
    ...table(rows),
    ...(accuracy === null ? [] : [`Accuracy on ${accuracy.samples} labelled samples`]),
    ...reached,
    ...(latency === null
      ? []
      : [`${speedText(latency.ratio)}; the model against itself ${speedText(latency.aa_ratio)}`]),
    ...outputLines(receipt),
    ...contributionLines(receipt),
    ...candidateLines(receipt),
    ...list(
      'Kept',
      receipt.kept.map(({ what, why }) => `${what}: ${why}`),
    ),
    ...list('Notes', receipt.notes),
    ...list('Suggestions', receipt.suggestions),
    'Stages',
    ...table(stages),
    `Needs ONNX Runtime ${receipt.onnx_runtime.needed}`,
    '',
  ]
    .map(drawable)
    .join('\n');
}
