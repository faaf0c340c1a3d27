import { createHash } from 'node:crypto';
import type { Write } from '../table/table.ts';
import type { Experiment } from './experiment.ts';

// Releases before kept a row for each experiment that succeeded, by its best value. Experiments are ranked when they are
// read (`criteria/metric-ranker.ts`), so that nothing writes or reads these rows; they go with their experiment.

/**
 * 16 hexadecimal digits that sort as the numbers do (IEEE 754 order: the sign bit is flipped, negative numbers are
 * inverted whole).
 */
export function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const sortable = bits >> 63n === 1n ? bits ^ 0xffff_ffff_ffff_ffffn : bits | (1n << 63n);
  return sortable.toString(16).padStart(16, '0');
}

/** A name of the project's own was no part of a key, and either direction of it a ranking of its own. */
const rankingName = ({ name, goal, own = false }: Experiment['criterion']): string =>
  own ? createHash('sha256').update(`${goal} ${name}`).digest('hex').slice(0, 32) : name;

/** The delete of the row that an earlier release made of an experiment; none of one that it did not rank. */
export const unrank = ({ project_id, experiment_id, criterion, best }: Experiment): Write[] => {
  if (best === null) return [];
  const value = criterion.goal === 'maximize' ? -best.value : best.value;
  const pk = `EXPERIMENT_RANKING#${project_id}#${rankingName(criterion)}`;
  return [{ delete: { pk, sk: `${sortableNumber(value)}#${experiment_id}` } }];
};
