import type { LimitUse } from './meter.ts';
import type { Overhead } from './overhead.ts';
import type { Outcome } from './scenario.ts';

const percent = (share: number): string =>
  `${share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;
/** Name of a partition or item without the ids in it. */
const withoutIds = (name: string): string => name.replace(/[0-7][0-9a-hjkmnp-tv-z]{25}/g, '…');
const count = (number: number): string => number.toLocaleString('en-US');

/** The first limit that the load would meet if it grew, and how far it is. */
function firstLimit(uses: readonly LimitUse[]): string {
  const [first] = uses;
  if (first === undefined) return 'none';
  return `${first.kind} (${withoutIds(first.name)}): ${percent(first.peak)} used, ${count(first.refused)} refused`;
}

/** How many times the load fits before the first limit is met. */
const headroom = ([first]: readonly LimitUse[]): string =>
  first === undefined || first.peak === 0 ? '–' : `${(1 / first.peak).toFixed(1)} ×`;

/** The outcomes as a table in Markdown. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(
    ({ scenario, uses, requests, failed, refused, begin, pass, concurrent, whole }) => [
      scenario.name,
      count(concurrent),
      firstLimit(uses),
      headroom(uses),
      `${count(failed + refused)} of ${count(requests)}`,
      `${begin.p50} / ${begin.p99} ms`,
      `${pass.seconds.toFixed(1)} s`,
      whole === undefined
        ? ''
        : `${whole.lost} / ${whole.doubled} / ${whole.repeated}; ${whole.place.p50} / ${whole.place.p99} ms; ${whole.hours.toFixed(1)} h`,
      whole === undefined ? '' : overheadText(whole.overhead),
    ],
  );
  const heads = [
    'load',
    'jobs at once',
    'first limit',
    'room',
    'requests failed or refused',
    'begin of a training, p50 / p99',
    'longest pass of the reconciler',
    'lost / run twice / submitted twice; wait for a free place, p50 / p99; until the last has ended',
    'service beside compute',
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return line(heads) + line(heads.map(() => '---')) + rows.map(line).join('');
}

const overheadText = ({ compute, share, shares }: Overhead): string =>
  `${percent(share)} of US$ ${compute.toFixed(2)}: ${Object.entries(shares)
    .map(([kind, part]) => `${kind} ${percent(part)}`)
    .join(', ')}`;

/** Fewest units of a job that are worth a line. */
const leastUnits = 0.5;

/** Units of DynamoDB that a job of a load with an end takes, by the kind of items. */
function unitsTable({ scenario, whole }: Outcome): string {
  if (whole === undefined) return '';
  const perJob = (units: number) => (units / scenario.jobs).toFixed(1).padStart(7);
  const rows = whole.units.filter(({ reads, writes }) => reads + writes >= leastUnits * scenario.jobs);
  return [
    '   writes    reads  units of DynamoDB of a job, by the kind of items\n',
    ...rows.map(({ items, reads, writes }) => `  ${perJob(writes)}  ${perJob(reads)}  ${items}\n`),
  ].join('');
}

/** Every limit that a load used, the most used first, why requests failed, and the units of a job. */
export function limitsTable(outcome: Outcome): string {
  const { scenario, uses, reasons } = outcome;
  const rows = uses.map(
    ({ kind, name, peak, refused }) =>
      `  ${percent(peak).padStart(7)}  ${kind} (${withoutIds(name)}), ${count(refused)} refused\n`,
  );
  const failures = [...reasons].map(
    ([reason, times]) => `  ${count(times).padStart(7)}  requests: ${withoutIds(reason)}\n`,
  );
  return `${scenario.name}\n${rows.join('')}${failures.join('')}${unitsTable(outcome)}`;
}
