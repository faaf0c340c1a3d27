import type { Outcome } from './program.ts';

const heads = [
  ...['project', 'kind', 'edits', 'packages named', 'curves', 'metrics from', 'params', 'best'],
  ...['files kept', 'seconds, first and second', 'compared by', 'missing'],
];

/** Return the outcomes as a table in Markdown. */
export function resultsTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((one) => [
    ...[one.name, one.kind, String(one.edits), one.isTold ? 'yes' : 'no'],
    `${one.curves.length} of ${one.metrics.length}${one.curves.length > 0 ? `: ${some(one.curves)}` : ''}`,
    ...[one.source ?? '', String(one.params), one.best, String(one.files)],
    one.seconds.map((seconds) => seconds.toFixed(0)).join(', '),
    ...[some(one.compared) || 'metrics', one.faults.join('; ')],
  ]);
  return [heads, heads.map(() => '---'), ...rows].map(row).join('\n');
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |`;

const some = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} …` : names.join(', ');
