import type { Column } from './columns.ts';
import type { Order } from './sort-rows.ts';

export const headHeight = 40;

/** Column name as a button that sorts the table. */
export const SortButton = ({
  column,
  order,
  onSort,
}: {
  column: Column;
  order: Order | undefined;
  onSort(column: Column): void;
}) => (
  <button type="button" onClick={() => onSort(column)} title={`Sort by ${column.label}`}>
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
export const TableHead = ({
  columns,
  order,
  onSort,
  isAllChosen,
  onChooseAll,
}: {
  columns: readonly Column[];
  order: Order | undefined;
  isAllChosen: boolean;
  onSort(column: Column): void;
  onChooseAll(isChosen: boolean): void;
}) => (
  <div role="row" class="row head" aria-rowindex={1} style={{ height: `${headHeight}px` }}>
    <div role="columnheader" class="cell pick" aria-colindex={1}>
      <input
        type="checkbox"
        aria-label="Select all shown experiments"
        checked={isAllChosen}
        onChange={({ currentTarget }) => onChooseAll(currentTarget.checked)}
      />
    </div>
    <div role="columnheader" class="cell name" aria-colindex={2}>
      Experiment
    </div>
    {columns.map((column, index) => {
      const isOrder = order?.column.id === column.id;
      const direction = order?.isDescending === true ? 'descending' : 'ascending';
      return (
        <div
          key={column.id}
          role="columnheader"
          class={column.isNumber ? 'cell right' : 'cell'}
          aria-colindex={index + 3}
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
