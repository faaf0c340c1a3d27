import { useMemo } from 'preact/hooks';
import { Curves } from '../../charts/lazy-curves.ts';
import { drawableOf } from '../../charts/reading/drawable.ts';
import type { Column } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';
import { lineColour } from '../../theme/colours.ts';
import { plural } from '../../ui/text/format.ts';
import type { Judge, Order } from '../sort-rows.ts';
import { groupFilter, groupName, groupRows, type RowGroup, sortGroups } from './group-rows.ts';
import { GroupTable } from './group-table.tsx';

/** Most groups whose curves are drawn, and most runs that are read for them. */
const maxDrawnGroups = 8;
const maxReadRuns = 48;

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
  const colours = new Map(drawn.map(({ id }, at) => [id, lineColour(at)]));
  return (
    <div class={isDrawing ? 'beside' : ''}>
      <GroupTable
        groups={groups}
        by={by}
        columns={columns}
        order={order}
        drawn={colours}
        onSort={onSort}
        onFilter={(group) => {
          const condition = groupFilter(group, by);
          return condition === undefined ? undefined : () => onFilter(condition);
        }}
      />
      {isDrawing && (
        <section class="beside-panel" aria-label="Curves of the groups">
          <p class="soft small">
            Mean ± deviation at each step
            {groups.length > drawn.length && `, of the first ${plural(drawn.length, 'group')}`}
            {drawn.some(({ runs, size }) => runs.length < size) &&
              `, with up to ${perGroup(drawn.length)} runs of each`}
            .
          </p>
          <Curves
            experiments={drawn.flatMap(({ runs }) => runs.map(drawableOf))}
            groups={drawn.map(({ id, name, runs }) => ({
              id,
              name,
              members: runs.map(({ experiment_id }) => experiment_id),
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
  /** Number of experiments of the group. */
  size: number;
}

/** Return the first groups with the newest runs of each that have metrics. */
function drawnGroups(groups: readonly RowGroup[]): DrawnGroup[] {
  const first = groups.slice(0, maxDrawnGroups);
  return first.map((group) => {
    const measured = group.rows.filter(({ metrics }) => Object.keys(metrics).length > 0);
    return {
      id: group.key,
      name: groupName(group),
      runs: measured.slice(0, perGroup(first.length)),
      size: measured.length,
    };
  });
}
