import { useFirstOf } from '../ui/first-of.tsx';
import type { Column } from './columns.ts';
import { type RowGroup, spreadText } from './group-rows.ts';
import type { Order } from './sort-rows.ts';
import { SortButton } from './table-head.tsx';

const maxShown = 500;

/** Table of experiment groups: the number of experiments, and mean ± deviation of every numeric column. */
export function GroupTable({
  groups,
  by,
  columns,
  order,
  onSort,
  onOpen,
}: {
  groups: readonly RowGroup[];
  by: Column;
  columns: readonly Column[];
  order: Order | undefined;
  /** Called with the column to sort by; undefined for the default order, largest first. */
  onSort: (column: Column | undefined) => void;
  onOpen: (group: RowGroup) => void;
}) {
  const [shown, more] = useFirstOf(groups, maxShown, 'groups');
  const numbers = columns.filter(
    (column) => column.isNumber && groups.some(({ spreads }) => spreads.has(column.id)),
  );
  const sorted = ({ id }: Column) =>
    order?.column.id === id && {
      'aria-sort': order.isDescending ? ('descending' as const) : ('ascending' as const),
    };
  return (
    <div class="table grouped" tabIndex={0} role="group" aria-label={`Experiments by ${by.label}`}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col" {...sorted(by)}>
              <SortButton column={by} order={order} onSort={onSort} />
            </th>
            <th scope="col" class="right">
              <button type="button" onClick={() => onSort(undefined)} title="Sort by number of experiments">
                Experiments
              </button>
            </th>
            {numbers.map((column) => (
              <th key={column.id} scope="col" class="right" {...sorted(column)}>
                <SortButton column={column} order={order} onSort={onSort} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((group) => {
            const { value, rows, spreads } = group;
            return (
              <tr key={value ?? '\0'}>
                <th scope="row">
                  {value === undefined ? (
                    <span class="soft">without one</span>
                  ) : (
                    <button
                      type="button"
                      class="as-link"
                      onClick={() => onOpen(group)}
                      title="Show these experiments"
                    >
                      <bdi>{value}</bdi>
                    </button>
                  )}
                </th>
                <td class="right">{rows.length.toLocaleString('en')}</td>
                {numbers.map((column) => {
                  const spread = spreads.get(column.id);
                  return (
                    <td key={column.id} class="right">
                      {spread === undefined ? '–' : spreadText(spread, column)}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
      {more}
    </div>
  );
}
