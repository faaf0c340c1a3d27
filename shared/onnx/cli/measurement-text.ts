import { drawable } from '../../drawing/drawn-text.ts';
import type { Measurement } from '../engine/measure/measurement.ts';
import { agreementText } from '../receipt/agreement-text.ts';
import { bytesText, errorText, factorText, millisecondsText, shareText } from '../receipt/amount-text.ts';

const outputsShown = 12;

interface Row {
  name: string;
  base: string;
  file: string;
  /** The change with its interval. */
  note: string;
}

const points = (share: number): string => `${share > 0 ? '+' : ''}${Number((share * 100).toFixed(2))}`;
const times = (ratio: number): string => `${Number(ratio.toPrecision(3))}x`;

function rowsOf({ file, base, accuracy, latency }: Measurement): Row[] {
  const row = (
    name: string,
    values: readonly [number | null | undefined, number | null],
    text: (value: number) => string,
    note = '',
  ): Row[] => {
    const [was, is] = values;
    if (is === null) return [];
    return [{ name, base: was === null || was === undefined ? '' : text(was), file: text(is), note }];
  };
  const difference =
    accuracy === null
      ? ''
      : `${points(accuracy.difference)} points (95 %: ${accuracy.difference_interval.map(points).join(' to ')}) over ${accuracy.samples} samples`;
  const ratio = latency?.ratio ?? null;
  const time =
    ratio === null
      ? ''
      : `${times(ratio.value)} (${ratio.interval.map(times).join(' to ')}) in ${latency?.rounds} rounds`;
  return [
    ...row('accuracy', [base?.accuracy, file.accuracy], shareText, difference),
    ...row(
      'bytes',
      [base?.bytes, file.bytes],
      bytesText,
      base === null ? '' : factorText(base.bytes, file.bytes),
    ),
    ...row('latency p50', [base?.p50_ms, file.p50_ms], millisecondsText, time),
    ...row('latency p90', [base?.p90_ms, file.p90_ms], millisecondsText),
  ];
}

const dataText = ({ data }: Measurement): string =>
  data === null
    ? ''
    : `over ${data.samples} ${data.source === 'synthetic' ? 'generated inputs' : 'samples of the set'}`;

function comparedLines(measurement: Measurement): string[] {
  const { agreement, outputs } = measurement;
  const on = dataText(measurement);
  const errors = outputs
    .slice(0, outputsShown)
    .map(({ name, relative_l2_error: error, why }) => `${name}: ${error === null ? why : errorText(error)}`);
  return [
    ...(agreement === null ? [] : [`Agreement: ${agreementText(agreement)}, ${on}`]),
    ...(errors.length === 0 ? [] : [`Relative error of the outputs, ${on}: ${errors.join(', ')}`]),
  ];
}

/** Format the verdict of a gate as one line. */
export const gateLine = ({ gate, verdict, measured, allowed }: Measurement['gates'][number]): string =>
  `${verdict.toUpperCase()}  ${gate}: ${measured}, allowed: ${allowed}`;

/** Format a measurement as plain text. */
export function measurementText(measurement: Measurement): string {
  const { summary, file, base, gates, warnings, notes, onnx_runtime } = measurement;
  const rows = [{ name: '', base: base?.file ?? '', file: file.file, note: '' }, ...rowsOf(measurement)].map(
    ({ name, base: was, file: is, note }) => (base === null ? [name, is, note] : [name, was, is, note]),
  );
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return [
    ...summary,
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd()),
    ...comparedLines(measurement),
    ...gates.map(gateLine),
    ...notes,
    `ONNX Runtime ${onnx_runtime}`,
    '',
  ]
    .map(drawable)
    .join('\n');
}

/** Escape Markdown in text from a model or file for a cell or a line. */
const plain = (text: string): string =>
  drawable(text).replaceAll(/[\\`*_[\]<>|#~]/g, (sign) =>
    sign === '<' ? '&lt;' : sign === '>' ? '&gt;' : `\\${sign}`,
  );

/** Format a measurement as Markdown, for a comment on a pull request. */
export function measurementMarkdown(measurement: Measurement): string {
  const { summary, file, base, gates, warnings, notes, onnx_runtime } = measurement;
  const line = (cells: readonly string[]) => `| ${cells.map(plain).join(' | ')} |`;
  const head = base === null ? ['', file.file, ''] : ['', base.file, file.file, ''];
  const cells = ({ name, base: was, file: is, note }: Row) =>
    base === null ? [name, is, note] : [name, was, is, note];
  const table = [
    line(head),
    `|${'---|'.repeat(head.length)}`,
    ...rowsOf(measurement).map((row) => line(cells(row))),
  ];
  const judged = gates.map(({ gate, verdict, measured, allowed }) =>
    line([gate, verdict, measured, allowed]),
  );
  return [
    ...summary.map((one, at) => (at === 0 ? `**${plain(one)}**\n` : `${plain(one)}\n`)),
    ...table,
    '',
    ...(judged.length === 0
      ? []
      : ['| gate | verdict | measured | allowed |', '|---|---|---|---|', ...judged, '']),
    ...[...comparedLines(measurement), ...warnings, ...notes, `ONNX Runtime ${onnx_runtime}`].map(
      (one) => `- ${plain(one)}`,
    ),
    '',
  ].join('\n');
}
