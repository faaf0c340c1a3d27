import { type Figure, figure } from '../../bench/figure.ts';

/** What may be wrong after a kill, by the beginning of the words that tell of it. */
const kinds = ['lost', 'stale', 'orphan', 'unnamed', 'count', 'a neighbour'] as const;
const titles = {
  lost: 'lost',
  stale: 'stale',
  orphan: 'orphans',
  unnamed: 'objects that no record names',
  count: 'kept counts that do not agree',
  'a neighbour': 'neighbours touched',
} as const;

/** Figures of the faults found in all lives together; each has to be 0. */
export function countFaults(faults: readonly string[]): Figure[] {
  const left = faults.filter((fault) => !kinds.some((kind) => fault.startsWith(kind)));
  return [
    ...kinds.map((kind) =>
      figure(titles[kind], faults.filter((fault) => fault.startsWith(kind)).length, '', { atMost: 0 }),
    ),
    figure('anything else that must not be', left.length, '', { atMost: 0 }),
  ];
}
