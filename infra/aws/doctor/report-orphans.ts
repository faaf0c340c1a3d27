/** Print the findings as a table with advice, or one line if there are none. */
export function reportOrphans(
  findings: Iterable<Finding>,
  { items, objects }: { items: number; objects: number },
): { found: number; text: string } {
  const numbers = new Map<Finding['kind'], number>();
  const rows: (readonly [string, string, string])[] = [];
  let found = 0;
  for (const { kind, where, why } of findings) {
    found += 1;
    numbers.set(kind, (numbers.get(kind) ?? 0) + 1);
    if (rows.length < maxShown) rows.push([kind, shown(where), shown(why)]);
  }
  const scanned = `${items} items and ${objects} objects`;
  if (found === 0) return { found, text: `No leftovers: all ${scanned} have an owner.\n` };
  const widths = [0, 1].map((column) =>
    rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
  );
  const line = ([kind, where, why]: readonly [string, string, string]) =>
    `  ${kind.padEnd(widths[0] ?? 0)}  ${where.padEnd(widths[1] ?? 0)}  ${why}\n`;
  const more = found - rows.length;
  const text = [
    `Found among ${scanned}: ${found}\n`,
    ...rows.map(line),
    ...(more > 0 ? [`  and ${more} more\n`] : []),
    'Advice, if a second search some minutes later finds the same:\n',
    ...[...numbers].map(([kind, number]) => `  ${kind} (${number}): ${advice[kind]}\n`),
  ].join('');
  return { found, text };
}

/**
 * `orphan`: its owner is gone, and no purge will remove it. `unnamed`: its owner exists, but no record names the
 * object. `stale`: a finished job on the list of unfinished jobs, or the reverse. `count`: a count that differs
 * from the number of items. `set-aside`: a row of unfinished work that needs an unreadable record. `unreadable`: a
 * record that this version cannot read. `folder`: a local folder that remains of a run or a deleted project.
 */
export interface Finding {
  kind: 'orphan' | 'unnamed' | 'stale' | 'count' | 'set-aside' | 'unreadable' | 'folder';
  /** Key of the item, as `pk/sk`, or of the object. */
  where: string;
  why: string;
}

/** Maximum number of printed findings. More would repeat the same faults. */
const maxShown = 1000;

// Names may contain terminal control sequences.
const unprintable = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

const shown = (text: string): string => text.replace(unprintable, '?');

/** Advice for each kind of finding. */
const advice: Readonly<Record<Finding['kind'], string>> = {
  orphan: 'delete the item or object, because nothing refers to it any more',
  unnamed: 'delete the object, unless it is being uploaded right now',
  stale: 'read that experiment or strategy once, so the service compares it with AWS Batch, and search again',
  count: 'set the attribute to the actual number',
  unreadable:
    'deploy the version that wrote the record, or delete it by its DELETE operation, which its owner and admins may call',
  folder: 'npm start removes it within seconds, npm run clean removes it at once',
  'set-aside':
    'deploy the version that wrote the record, or delete it; the next pass over the list continues with it',
};
