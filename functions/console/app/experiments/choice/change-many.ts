import { inLanes } from '../../../../../shared/core/in-lanes.ts';
import { csvLines } from '../../../../../shared/core/text/csv-lines.ts';
import { cancel, changeExperiment, type ExperimentChange } from '../../api/experiments.ts';
import type { Column } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';

const lanes = 4;

/** Act on rows, a few at a time. */
const forEach = async (
  rows: readonly Row[],
  act: (row: Row, index: number) => Promise<unknown>,
): Promise<void> => {
  await inLanes(rows, lanes, act);
};

const change = (row: Row, body: ExperimentChange) =>
  changeExperiment({ project_id: row.project_id, experiment_id: row.experiment_id }, body, '*');

/** Set a tag of every row. */
export const tagRows = (rows: readonly Row[], name: string, value: string): Promise<void> =>
  forEach(rows, (row) => change(row, { tags: { [name]: value } }));

/** Remove a tag from the rows that have it, and return the number of these and the way back. */
export async function untagRows(
  rows: readonly Row[],
  name: string,
): Promise<{ count: number; restore: () => Promise<void> }> {
  const tagged = rows.filter(({ tags }) => Object.hasOwn(tags, name));
  await forEach(tagged, (row) => change(row, { tags: { [name]: null } }));
  const restore = () => forEach(tagged, (row) => change(row, { tags: { [name]: row.tags[name] ?? '' } }));
  return { count: tagged.length, restore };
}

/** Give a row a name. Several rows get numbers after it. */
export const renameRows = (rows: readonly Row[], name: string): Promise<void> =>
  forEach(rows, (row, index) => change(row, { name: rows.length === 1 ? name : `${name} ${index + 1}` }));

/** Cancel rows that have not ended. */
export const cancelRows = (rows: readonly Row[]): Promise<void> =>
  forEach(rows, (row) =>
    row.kind === 'logged'
      ? change(row, { status: 'CANCELLED' })
      : cancel({ project_id: row.project_id, experiment_id: row.experiment_id }),
  );

/** Return rows as CSV: their IDs, names and the given columns. */
export function csvOf(rows: readonly Row[], columns: readonly Column[]): string {
  const written = columns.filter(({ id }) => id !== 'course');
  const head = [
    'experiment_id',
    'name',
    ...written.map(({ id, group }) => (id === 'best' && group ? `best ${group}` : id)),
  ];
  const lines = rows.map((row) => [
    row.experiment_id,
    row.name,
    ...written.map((column) => loggedValue(row, column)),
  ]);
  return csvLines([head, ...lines]);
}

/** Return a value as it was logged: columns hold params as numbers, and times as milliseconds. */
function loggedValue(row: Row, column: Column): string | number | undefined {
  if (column.id === 'created') return row.created_at;
  const [, group, name = ''] = /^(params|tags)\.(.+)$/s.exec(column.id) ?? [];
  if (group === undefined) return column.value(row);
  const values = group === 'params' ? row.params : row.tags;
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
