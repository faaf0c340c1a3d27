import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { clickMark, highlightRow } from '../charts/drawn-mark.tsx';
import { type Column, namesWidth } from '../runs/columns.ts';
import { go, keep, keptOf } from '../ui/router.ts';
import { useKeys } from '../ui/use-keys.ts';
import { useVirtual } from '../ui/use-virtual.ts';
import { nameWidth } from './name-grip.tsx';
import { moveFocus, rowIndex, useRowFocus } from './row-focus.ts';
import { useRowSelection } from './row-selection.ts';
import type { Order } from './sort-rows.ts';
import { headHeight, TableHead } from './table-head.tsx';
import { isDense, type RowLook, rowHeight, type TableItem, TableRow } from './table-row.tsx';
import { type ColumnRange, useVisibleColumns } from './use-visible-columns.ts';

const scrollbarHeight = 18;

interface TableProps<R> {
  /** What a row is, such as `Experiment`. */
  what: string;
  rows: readonly R[];
  columns: readonly Column<R>[];
  /** It must stay the same object. */
  look: RowLook<R>;
  order: Order<R> | undefined;
  chosen: ReadonlySet<string>;
  /** Line styles of the runs whose curves are drawn, by ID. */
  drawn: ReadonlyMap<string, number>;
  /** IDs of the rows that are pinned; undefined if rows cannot be pinned. */
  pinned?: ReadonlySet<string>;
  /** ID of the row that the others are compared with. */
  baseline?: string | undefined;
  /** Called with the rows that are near the visible part. */
  onSeen?(rows: readonly R[]): void;
  /** Called with the columns that are near the visible part. */
  onRange?(range: ColumnRange): void;
  onChosen(next: ReadonlySet<string>): void;
  onSort(column: Column<R>): void;
  onPin?(row: R): void;
}

/** Table of experiments or trials. It renders only the visible rows. Rows of another height are a table of their own. */
export const DataTable = <R extends TableItem>(props: TableProps<R>) => <Rows key={rowHeight()} {...props} />;

function Rows<R extends TableItem>(props: TableProps<R>) {
  const { what, rows, columns, look, order, chosen, drawn, onSeen, onRange, onChosen, onSort, onPin } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, height, scrollTo } = useVirtual(scroller, rows.length, rowHeight(), headHeight);
  const range = useVisibleColumns(scroller, columns);
  useLayoutEffect(() => onRange?.(range), [range, onRange]);
  const names = useMemo(() => namesWidth(rows), [rows]);
  const style = useMemo(() => {
    const widths = columns.map(({ width }) => `${width}rem`);
    const sum = columns.reduce((all, { width }) => all + width, 3);
    return {
      '--columns': `2.5rem var(--name-width) ${widths.join(' ')} minmax(0.5rem, 1fr)`,
      // Browsers refuse a calculation of over 100 terms.
      '--row-width': `calc(${sum}rem + var(--name-width))`,
    };
  }, [columns]);
  // Restore the scroll position of a returning user.
  useLayoutEffect(() => {
    const top = keptOf<number>('table-top');
    if (top !== undefined) scroller.current?.scrollTo(0, top);
  }, []);
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => onSeen?.(rows.slice(first, last + 1)), [rows, first, last, onSeen]);
  const focus = useRowFocus(scroller, rows, items, scrollTo);
  const selection = useRowSelection(rows, chosen, onChosen);
  useKeys({
    j: () => focus.move(1),
    k: () => focus.move(-1),
    x: () => selection.chooseFocused(false),
    X: () => selection.chooseFocused(true),
    p() {
      const row = rows[rowIndex(document.activeElement)];
      if (row !== undefined) onPin?.(row);
    },
  });

  return (
    <div
      class={isDense.value ? 'table dense' : 'table'}
      ref={scroller}
      tabIndex={-1}
      onScroll={({ currentTarget }) => {
        currentTarget.classList.toggle('sideways', currentTarget.scrollLeft > 0);
        keep('table-top', currentTarget.scrollTop);
      }}
      style={
        {
          // As high as its rows and a scrollbar, where these are few. Browsers would restyle all cells for a property that they inherit.
          height: `min(${height + scrollbarHeight}px, var(--most))`,
          '--names': `${names}rem`,
          ...(nameWidth.value !== undefined && { '--name-width': `${nameWidth.value}px` }),
        } as Record<string, string>
      }
    >
      <div
        role="table"
        aria-label={`${what}s`}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 2}
        class="rows"
        style={{ height: `${height}px`, ...style } as Record<string, string>}
      >
        <div role="rowgroup" class="sticky">
          <TableHead
            what={what}
            columns={columns}
            range={range}
            order={order}
            onSort={onSort}
            onChooseAll={(isChosen) =>
              onChosen(new Set(isChosen ? rows.map(({ experiment_id }) => experiment_id) : []))
            }
            isAllChosen={rows.length > 0 && rows.every(({ experiment_id }) => chosen.has(experiment_id))}
          />
        </div>
        <div
          role="rowgroup"
          onKeyDown={(event) => moveFocus(event, rows.length, scrollTo)}
          {...(drawn.size > 0 && {
            onPointerOver: ({ target }: PointerEvent) => highlightRow(target),
            onPointerLeave: () => highlightRow(null),
          })}
          onClick={(event) => {
            const { target, shiftKey } = event;
            if (clickMark(event, [...drawn.keys()])) return;
            selection.startRange(shiftKey);
            const row = rows[rowIndex(target)];
            if (row === undefined) return;
            if ((target as HTMLElement).closest('.star') !== null) return onPin?.(row);
            if ((target as HTMLElement).closest('input') === null) keep('opened', row.experiment_id);
            if ((target as HTMLElement).closest('a, input') === null) go(look.addressOf(row));
          }}
          onChange={({ target }) => {
            selection.choose(rowIndex(target), (target as HTMLInputElement).checked);
          }}
        >
          <VisibleRows {...props} items={items} range={range} />
        </div>
      </div>
    </div>
  );
}

type VisibleRowsProps<R> = TableProps<R> & {
  items: readonly { index: number; start: number }[];
  range: ColumnRange;
};

function VisibleRows<R extends TableItem>(props: VisibleRowsProps<R>) {
  const { items, range, rows, look, columns, chosen, drawn, pinned, baseline } = props;
  return (
    <>
      {items.map(({ index, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <TableRow
            key={row.experiment_id}
            row={row}
            look={look}
            columns={columns}
            range={range}
            index={index}
            start={start}
            isChosen={chosen.has(row.experiment_id)}
            style={drawn.get(row.experiment_id)}
            isPinned={pinned?.has(row.experiment_id)}
            isBaseline={row.experiment_id === baseline}
          />
        );
      })}
    </>
  );
}
