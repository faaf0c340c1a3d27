import { countersKey, salvageCounters } from '../data/projects/project.ts';
import type { TableReader } from '../data/table/table.ts';

/**
 * Which one of its project a new experiment is, for its name. Two that begin at the same moment may get one number, and
 * so may one that follows a delete; names need not differ.
 */
export async function experimentNumber(records: TableReader<'records'>, project_id: string): Promise<number> {
  const counters = await records.get(countersKey(project_id));
  return (counters === undefined ? 0 : salvageCounters(counters).experiments) + 1;
}
