import { useState } from 'preact/hooks';
import { clickMark, DrawnMark, highlightRow } from '../../charts/drawn-mark.tsx';
import { type Column, cellText, columnPad } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';
import { Icon } from '../../ui/icon.tsx';
import { useShowMore } from '../../ui/show-more.tsx';
import { CutName } from '../../ui/text/cut-name.tsx';
import { plural } from '../../ui/text/format.ts';
import type { Order } from '../sort-rows.ts';
import { SortButton } from '../table-head.tsx';
import { addressOf } from '../table-row.tsx';
import { groupName, type RowGroup, spreadDecimals, spreadText } from './group-rows.ts';

const maxShown = 500;
/** Number of a group's experiments that are shown before the user asks for the others. */
const maxMembers = 20;

/**
 * Table of experiment groups: the number of experiments, and mean ± deviation of every numeric column. A group opens
 * in place to show its experiments.
 */
export function GroupTable({
  groups,
  by,
  columns,
  order,
  drawn,
  onSort,
  onFilter,
}: {
  groups: readonly RowGroup[];
  by: readonly Column[];
  columns: readonly Column[];
  order: Order | undefined;
  /** Line styles of the groups whose curves are drawn, by key. */
  drawn: ReadonlyMap<string, number>;
  /** Called with the column to sort by; undefined for the default order, largest first. */
  onSort: (column: Column | undefined) => void;
  /** Called to show only the experiments of a group; undefined for a group that no filter finds. */
  onFilter: (group: RowGroup) => (() => void) | undefined;
}) {
  const [shown, more] = useShowMore(groups, maxShown, 'groups');
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const numbers = columns.filter(
    (column) => column.isNumber && groups.some(({ spreads }) => spreads.has(column.id)),
  );
  const decimals = new Map(
    numbers.map(({ id }) => [id, spreadDecimals(groups.flatMap(({ spreads }) => spreads.get(id) ?? []))]),
  );
  const sorted = ({ id }: Column) =>
    order?.column.id === id && {
      'aria-sort': order.isDescending ? ('descending' as const) : ('ascending' as const),
    };
  const toggle = (key: string) => {
    const next = new Set(opened);
    if (!next.delete(key)) next.add(key);
    setOpened(next);
  };
  return (
    <div
      class="table grouped"
      tabIndex={0}
      role="group"
      aria-label={`Experiments by ${by.map(({ label }) => label).join(', ')}`}
    >
      <table
        class="data"
        onClick={(event) => clickMark(event, [...drawn.keys()])}
        onPointerOver={({ target }) => highlightRow(target)}
        onPointerLeave={() => highlightRow(null)}
      >
        <thead>
          <tr>
            {by.map((column) => (
              <th key={column.id} scope="col" {...sorted(column)}>
                <SortButton column={column} order={order} onSort={onSort} />
              </th>
            ))}
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
        {shown.map((group) => {
          const { key, parts, rows, spreads } = group;
          const isOpen = opened.has(key);
          const filter = onFilter(group);
          const style = drawn.get(key);
          return (
            <tbody key={key}>
              <tr>
                {parts.map(({ value }, at) => (
                  <th key={by[at]?.id} scope="row">
                    {at === 0 && style !== undefined && (
                      <DrawnMark id={key} name={groupName(group)} style={style} />
                    )}
                    {at === 0 ? (
                      <button
                        type="button"
                        class="expander"
                        aria-expanded={isOpen}
                        aria-label={`Experiments of ${groupName(group)}`}
                        onClick={() => toggle(key)}
                      >
                        <Icon name={isOpen ? 'down' : 'right'} size={14} />
                        <Value value={value} />
                      </button>
                    ) : (
                      <Value value={value} />
                    )}
                  </th>
                ))}
                <td class="right">
                  {filter === undefined ? (
                    rows.length.toLocaleString('en')
                  ) : (
                    <button
                      type="button"
                      class="as-link"
                      title="Show only these experiments"
                      aria-label={`Show only the ${plural(rows.length, 'experiment')} of ${groupName(group)}`}
                      onClick={filter}
                    >
                      {rows.length.toLocaleString('en')}
                    </button>
                  )}
                </td>
                {numbers.map((column) => {
                  const spread = spreads.get(column.id);
                  return (
                    <td key={column.id} class="right">
                      {spread === undefined ? '–' : spreadText(spread, column, decimals.get(column.id))}
                    </td>
                  );
                })}
              </tr>
              {isOpen && <Members rows={rows} span={by.length + 1} numbers={numbers} />}
            </tbody>
          );
        })}
      </table>
      {more}
    </div>
  );
}

const Value = ({ value }: { value: string | undefined }) =>
  value === undefined ? <span class="soft">(not set)</span> : <bdi>{value}</bdi>;

/** Rows of a group's experiments. */
function Members({
  rows,
  span,
  numbers,
}: {
  rows: readonly Row[];
  /** Number of columns before the numbers. */
  span: number;
  numbers: readonly Column[];
}) {
  const [shown, more] = useShowMore(rows, maxMembers, 'experiments');
  return (
    <>
      {shown.map((row) => (
        <tr key={row.experiment_id} class="member">
          <th scope="row" colSpan={span}>
            <a href={addressOf(row)}>
              <CutName name={row.name} />
            </a>
          </th>
          {numbers.map((column) => (
            <td key={column.id} class="right">
              <span data-pad={columnPad(cellText(column, row), column)}>{cellText(column, row)}</span>
            </td>
          ))}
        </tr>
      ))}
      {more !== null && (
        <tr class="member">
          <td colSpan={span + numbers.length}>{more}</td>
        </tr>
      )}
    </>
  );
}
