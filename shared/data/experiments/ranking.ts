import { createHash } from 'node:crypto';
import type { Write } from '../table/table.ts';
import type { Experiment } from './experiment.ts';

// Earlier releases stored a ranking row for each successful experiment. Current releases rank at read time
// (`metrics/metric-ranker.ts`), so nothing writes or reads these rows. The delete of an experiment removes its
// row.

/**
 * Encode a number as 16 hexadecimal digits in the same sort order (IEEE 754: flip the sign bit, invert all bits of
 * negative numbers).
 */
export function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const sortable = bits >> 63n === 1n ? bits ^ 0xffff_ffff_ffff_ffffn : bits | (1n << 63n);
  return sortable.toString(16).padStart(16, '0');
}

/**
 * Name of the ranking. A custom criterion was hashed, because keys did not contain custom names. Each direction
 * had its own ranking.
 */
const rankingName = ({ name, goal, own = false }: Experiment['criterion']): string =>
  own ? createHash('sha256').update(`${goal} ${name}`).digest('hex').slice(0, 32) : name;

/** Build the delete of the ranking row of an earlier release. Return none if it did not rank the experiment. */
export const unrank = ({ project_id, experiment_id, criterion, best }: Experiment): Write[] => {
  if (best === null) return [];
  const value = criterion.goal === 'maximize' ? -best.value : best.value;
  const pk = `EXPERIMENT_RANKING#${project_id}#${rankingName(criterion)}`;
  return [{ delete: { pk, sk: `${sortableNumber(value)}#${experiment_id}` } }];
};
