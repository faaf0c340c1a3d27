type Cell = string | number | null;

/** Text of a cell that cannot end it, begin another line, or be markup. */
const cellText = (value: Cell): string =>
  value === null
    ? '–'
    : String(value)
        .replaceAll(/[\r\n]+/g, ' ')
        .replaceAll(/[\\|`*_[\]<>&#!~]/g, (sign) => `\\${sign}`);

/** A Markdown table of values by name, one column for each experiment; nothing where there are none. */
export function comparisonTable(
  title: string,
  names: readonly string[],
  rows: Readonly<Record<string, readonly Cell[]>>,
): string {
  const lines = Object.entries(rows).map(([name, values]) => [name, ...values]);
  if (lines.length === 0) return '';
  const line = (cells: readonly Cell[]) => `| ${cells.map(cellText).join(' | ')} |`;
  const rule = `|${' --- |'.repeat(names.length + 1)}`;
  return [line([title, ...names]), rule, ...lines.map(line), ''].join('\n');
}
