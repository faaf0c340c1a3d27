import { useMemo } from 'preact/hooks';
import { Curves } from '../../charts/lazy-curves.ts';
import { drawableOf } from '../../charts/reading/drawable.ts';
import type { Column } from '../../runs/columns.ts';
import { metricOf, type Row } from '../../runs/row.ts';
import { plural } from '../../ui/text/format.ts';
import type { Judge, Order } from '../sort-rows.ts';
import { groupFilter, groupName, groupRows, type RowGroup, sortGroups, spreadOf } from './group-rows.ts';
import { GroupTable } from './group-table.tsx';

/** Most groups whose curves are drawn, and most runs that are read for them: one request each. */
const maxDrawnGroups = 8;
const maxReadRuns = 400;

/** Groups of experiments as a table, and their curves as means with bands of ± deviation. */
export function GroupedView({
  rows,
  by,
  columns,
  order,
  judge,
  isDrawing,
  onSort,
  onFilter,
}: {
  rows: readonly Row[];
  by: readonly Column[];
  columns: readonly Column[];
  order: Order | undefined;
  judge: Judge | undefined;
  /** Whether the curves are shown. */
  isDrawing: boolean;
  onSort: (column: Column | undefined) => void;
  /** Called with the condition that finds the experiments of a group. */
  onFilter: (condition: string) => void;
}) {
  const groups = useMemo(
    () => sortGroups(groupRows(rows, by, columns), by, order),
    [rows, by, columns, order],
  );
  const drawn = useMemo(() => (isDrawing ? drawnGroups(groups) : []), [isDrawing, groups]);
  const styles = new Map(drawn.map(({ id }, at) => [id, at]));
  return (
    <div class={isDrawing ? 'beside' : ''}>
      <GroupTable
        groups={groups}
        by={by}
        columns={columns}
        order={order}
        drawn={styles}
        onSort={onSort}
        onFilter={(group) => {
          const condition = groupFilter(group, by);
          return condition === undefined ? undefined : () => onFilter(condition);
        }}
      />
      {isDrawing && (
        <section class="beside-panel" aria-label="Curves of the groups">
          <p class="soft small">
            Mean ± deviation of all runs at each step
            {groups.length > drawn.length && `, for the first ${plural(drawn.length, 'group')}`}
            {drawn.some(({ runs, size }) => runs.length < size) &&
              '; of the groups that say so, only the newest runs are drawn'}
            .
          </p>
          <Curves
            isBeside
            experiments={drawn.flatMap(({ runs }) => runs.map(drawableOf))}
            groups={drawn.map(({ id, name, runs, size, lastOf }) => ({
              id,
              name: runs.length < size ? `${name} (${runs.length} of ${plural(size, 'run')} drawn)` : name,
              members: runs.map(({ experiment_id }) => experiment_id),
              lastOf,
            }))}
            judge={judge}
          />
        </section>
      )}
    </div>
  );
}

const perGroup = (groups: number): number => Math.floor(maxReadRuns / Math.max(1, groups));

interface DrawnGroup {
  id: string;
  name: string;
  runs: readonly Row[];
  /** Number of experiments of the group that have metrics. */
  size: number;
  /** Mean of the last values of a metric, over all experiments of the group, as in the table. */
  lastOf(metric: string): number | undefined;
}

/** Return the first groups with their runs that have metrics, of large groups the newest. */
function drawnGroups(groups: readonly RowGroup[]): DrawnGroup[] {
  const first = groups.slice(0, maxDrawnGroups);
  return first.map((group) => {
    const measured = group.rows.filter(({ metrics }) => Object.keys(metrics).length > 0);
    return {
      id: group.key,
      name: groupName(group),
      runs: measured.slice(0, perGroup(first.length)),
      size: measured.length,
      lastOf: (metric) => spreadOf(group.rows.map((row) => metricOf(row, metric)))?.mean,
    };
  });
}
