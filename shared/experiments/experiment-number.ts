import { countersKey, salvageCounters } from '../data/projects/project.ts';
import type { TableReader } from '../data/table/table.ts';

/**
 * Return the number of a new experiment in its project, for its default name. Numbers may repeat: for two
 * experiments that begin at the same moment, or after a delete. Names need not be unique.
 */
export async function experimentNumber(records: TableReader<'records'>, project_id: string): Promise<number> {
  const counters = await records.get(countersKey(project_id));
  return (counters === undefined ? 0 : salvageCounters(counters).experiments) + 1;
}
