import { type Column, isRight } from '../runs/columns.ts';
import { NameGrip } from './name-grip.tsx';
import type { Order } from './sort-rows.ts';
import type { ColumnRange } from './use-visible-columns.ts';

export const headHeight = 32;

/** Column name as a button that sorts the table. */
export const SortButton = <R,>({
  column,
  order,
  onSort,
}: {
  column: Column<R>;
  order: Order<R> | undefined;
  onSort(column: Column<R>): void;
}) => (
  <button
    type="button"
    onClick={() => onSort(column)}
    title={`Sort by ${[column.label, column.group].filter(Boolean).join(', ')}`}
    {...(column.id === 'best' && { 'data-key': 'b' })}
  >
    <span class="head-label">
      {column.group !== undefined && <small>{column.group}</small>}
      <bdi class="ellipsis">{column.label}</bdi>
    </span>
    {order?.column.id === column.id && (
      <span class="arrow" aria-hidden="true">
        {order.isDescending ? '↓' : '↑'}
      </span>
    )}
  </button>
);

/** Head of the table: sortable column names, and the box that selects all rows. */
export const TableHead = <R,>({
  what,
  columns,
  range,
  order,
  onSort,
  isAllChosen,
  onChooseAll,
}: {
  /** What a row is, such as `Experiment`. */
  what: string;
  columns: readonly Column<R>[];
  /** Columns that are drawn. */
  range: ColumnRange;
  order: Order<R> | undefined;
  isAllChosen: boolean;
  onSort(column: Column<R>): void;
  onChooseAll(isChosen: boolean): void;
}) => (
  <div role="row" class="row head" aria-rowindex={1} style={{ height: `${headHeight}px` }}>
    <div role="columnheader" class="cell pick" aria-colindex={1}>
      <input
        type="checkbox"
        data-key="a"
        aria-label={`Select all shown ${what.toLowerCase()}s`}
        checked={isAllChosen}
        onChange={({ currentTarget }) => onChooseAll(currentTarget.checked)}
      />
    </div>
    <div role="columnheader" class="cell name" aria-colindex={2}>
      {what}
      <NameGrip />
    </div>
    {columns.slice(range.first, range.last).map((column, at) => {
      const index = range.first + at;
      const isOrder = order?.column.id === column.id;
      const direction = order?.isDescending === true ? 'descending' : 'ascending';
      return (
        <div
          key={column.id}
          role="columnheader"
          class={isRight(column) ? 'cell right' : 'cell'}
          aria-colindex={index + 3}
          {...(at === 0 && range.first > 0 && { style: { gridColumnStart: index + 3 } })}
          {...(isOrder && { 'aria-sort': direction })}
        >
          {column.id === 'course' ? (
            column.label
          ) : (
            <SortButton column={column} order={order} onSort={onSort} />
          )}
        </div>
      );
    })}
  </div>
);
