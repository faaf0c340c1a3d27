/** What was measured in one part of a soak. */
export interface SoakWindow {
  number: number;
  requests: number;
  /** Milliseconds. */
  p99: number;
  /** Megabytes of each process. */
  memory: ReadonlyMap<string, number>;
}

/** A line for each window: requests, p99 and the memory of every process. */
export function windowTable(windows: readonly SoakWindow[]): string {
  const names = [...new Set(windows.flatMap(({ memory }) => [...memory.keys()]))];
  const head = ['window', 'requests', 'p99 ms', ...names.map((name) => `${name} MB`)];
  const rows = windows.map(({ number, requests, p99, memory }) => [
    String(number),
    String(requests),
    p99.toFixed(1),
    ...names.map((name) => memory.get(name)?.toFixed(1) ?? '–'),
  ]);
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ');
  return `${[head, ...rows].map(line).join('\n')}\n`;
}
