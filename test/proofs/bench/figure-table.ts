import type { Figure } from './figure.ts';

export interface MeasuredGroup {
  name: string;
  title: string;
  figures: readonly Figure[];
  /** The error that ended the measurement. */
  failure: string | undefined;
  /** Seconds of the measurement. */
  seconds: number;
}

const columns = ['what', 'figure', 'bound', ''] as const;

const verdict = ({ bound }: Figure): string => (bound === undefined ? '' : bound.isMet ? 'met' : 'MISSED');

/** All figures in one table for people, with a line for each group. */
export function renderTable(groups: readonly MeasuredGroup[]): string {
  const rows = groups.map(({ figures }) =>
    figures.map((figure) => [`  ${figure.what}`, figure.text, figure.bound?.text ?? '', verdict(figure)]),
  );
  const all = [[...columns], ...rows.flat()];
  const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = '─'.repeat(widths.reduce((sum, width) => sum + width + 2, 0));
  const lines = groups.flatMap(({ title, failure }, index) => [
    title,
    ...(rows[index] ?? []).map(line),
    ...(failure === undefined ? [] : [`  NOT MEASURED: ${failure}`]),
  ]);
  return [line(columns), rule, ...lines, ''].join('\n');
}

/** The same figures as a Markdown document, for the repository. */
export function renderMarkdown(
  groups: readonly MeasuredGroup[],
  { head, day }: { head: string; day: string },
): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const parts = groups.flatMap(({ title, figures, failure }) => [
    `## ${title}\n`,
    '| what | figure | bound | |\n|---|---|---|---|',
    ...figures.map((one) => {
      const cells = [one.what, one.text, one.bound?.text ?? '', verdict(one)];
      return `| ${cells.map(cell).join(' | ')} |`;
    }),
    ...(failure === undefined ? [] : [`\nNot measured: ${failure}`]),
    '',
  ]);
  const about = `\`npm run proof -- bench --table\` wrote this file on ${day}: ${head}.`;
  return ['# Figures of the bench\n', about, `${summary(groups)}\n`, ...parts].join('\n');
}

/** The missed bounds, one line each. */
export function summary(groups: readonly MeasuredGroup[]): string {
  const bounded = groups.flatMap(({ figures }) => figures.filter(({ bound }) => bound !== undefined));
  const missed = bounded.filter(({ bound }) => bound?.isMet === false);
  const failed = groups.filter(({ failure }) => failure !== undefined);
  const notMeasured =
    failed.length === 0 ? '' : ` Not measured: ${failed.map(({ title }) => title).join('; ')}.`;
  if (bounded.length === 0) return `None of these figures has a bound.${notMeasured}`;
  if (missed.length === 0) return `All ${bounded.length} bounds are met.${notMeasured}`;
  const names = missed.map(({ what, text, bound }) => `${what} is ${text}, bound ${bound?.text}`);
  return `MISSED ${missed.length} of ${bounded.length} bounds: ${names.join('; ')}.${notMeasured}`;
}
