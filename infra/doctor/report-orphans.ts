import type { Finding } from './finding.ts';
import type { Inventory } from './inventory.ts';

/** What to do about each kind of finding. */
const advice: Readonly<Record<Finding['kind'], string>> = {
  orphan: 'delete the item or object: nothing leads to it any more',
  unnamed: 'delete the object, unless it is being uploaded right now',
  stale: 'read that experiment or strategy once, which compares it with AWS Batch; look again then',
  count: 'set the attribute to the number there is',
  'set-aside':
    'deploy the version that wrote the record, or delete it: the next pass over the list goes on with it',
};

// What a program or a person has named may hold what a terminal would obey.
const unprintable = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
const shown = (text: string): string => text.replace(unprintable, '?');

/** A table of what was found and what to do about it; one line where all is in order. */
export function reportOrphans(
  findings: readonly Finding[],
  { accounts, records, objects }: Inventory,
): string {
  const looked = `${accounts.length + records.length} items and ${objects.length} objects`;
  if (findings.length === 0) return `Nothing is left over: ${looked} belong together.\n`;
  const rows = findings.map(({ kind, where, why }) => [kind, shown(where), shown(why)] as const);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = ([kind, where, why]: readonly [string, string, string]) =>
    `  ${kind.padEnd(widths[0] ?? 0)}  ${where.padEnd(widths[1] ?? 0)}  ${why}\n`;
  const kinds = [...new Set(findings.map(({ kind }) => kind))];
  return [
    `Found among ${looked}: ${findings.length}\n`,
    ...rows.map(line),
    'What to do, if a second look some minutes later shows the same:\n',
    ...kinds.map((kind) => `  ${kind}: ${advice[kind]}\n`),
  ].join('');
}
