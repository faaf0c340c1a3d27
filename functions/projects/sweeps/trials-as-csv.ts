import { csvLines } from '../../../shared/core/text/csv-lines.ts';
import type { Trial } from './trial-rows.ts';

/**
 * Write rows of a sweep as CSV (RFC 4180), with a column `params.<name>` for each parameter.
 * @param parameters names of the sweep's parameters
 */
export function trialsAsCsv(trials: readonly Trial[], parameters: readonly string[]): string {
  const names = [...new Set([...parameters, ...trials.flatMap(({ params }) => Object.keys(params))])];
  const header = [...columns, ...names.map((name) => `params.${name}`)];
  const rows = trials.map((trial) => [
    ...columns.map((column) => trial[column]),
    ...names.map((name) => trial.params[name]),
  ]);
  return csvLines([header, ...rows]);
}

const columns = [
  'trial',
  'repeat',
  'experiment_id',
  'status',
  'outcome',
  'value',
  'step',
  'last',
  'started_at',
  'duration',
  'cost',
] as const;
