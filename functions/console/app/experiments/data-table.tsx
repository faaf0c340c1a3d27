import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Column, namesWidth } from '../runs/columns.ts';
import { go, keep, keptOf } from '../ui/router.ts';
import { useKeys } from '../ui/use-keys.ts';
import { useVirtual } from '../ui/use-virtual.ts';
import type { Order } from './sort-rows.ts';
import { headHeight, TableHead } from './table-head.tsx';
import { isDense, type RowLook, rowHeight, type TableItem, TableRow } from './table-row.tsx';

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
  onChosen(next: ReadonlySet<string>): void;
  onSort(column: Column<R>): void;
  onPin?(row: R): void;
}

/** Move the focus between rows with the arrow keys, including to rows that are not rendered yet. */
function moveFocus(
  event: KeyboardEvent,
  index: number,
  count: number,
  scrollTo: (index: number) => void,
): void {
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 };
  const step = steps[event.key];
  const target = event.target as HTMLElement;
  if (step === undefined || target.closest('.table') === null) return;
  event.preventDefault();
  const next = Math.max(0, Math.min(count - 1, index + step));
  const kind = target.matches('input') ? 'input' : 'a';
  const table = target.closest('.table');
  scrollTo(next);
  focusOnceThere(() => table?.querySelector<HTMLElement>(`[data-index="${next}"] ${kind}`));
}

/** Frames within which a row that was scrolled to is rendered, also by a slow machine. */
const maxFrames = 120;
let newestFocus = 0;

/** Focus an element at once, or in the frame in which it is rendered. A later call replaces an earlier one. */
function focusOnceThere(find: () => HTMLElement | null | undefined): void {
  newestFocus += 1;
  const own = newestFocus;
  const look = (framesLeft: number): void => {
    if (own !== newestFocus) return;
    const element = find();
    if (element == null) {
      if (framesLeft > 0) requestAnimationFrame(() => look(framesLeft - 1));
    } else if (element !== document.activeElement) element.focus();
  };
  look(maxFrames);
}

/** Table of experiments or trials. It renders only the visible rows. Rows of another height are a table of their own. */
export const DataTable = <R extends TableItem>(props: TableProps<R>) => <Rows key={rowHeight()} {...props} />;

function Rows<R extends TableItem>(props: TableProps<R>) {
  const {
    what,
    rows,
    columns,
    look,
    order,
    chosen,
    drawn,
    pinned,
    baseline,
    onSeen,
    onChosen,
    onSort,
    onPin,
  } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, height, scrollTo } = useVirtual(scroller, rows.length, rowHeight(), headHeight);
  const names = useMemo(() => namesWidth(rows), [rows]);
  const style = useMemo(() => {
    const widths = columns.map(({ width }) => `${width}rem`);
    return {
      '--columns': `2.5rem var(--name-width) ${widths.join(' ')} minmax(0.5rem, 1fr)`,
      '--row-width': `calc(${['3rem', 'var(--name-width)', ...widths].join(' + ')})`,
    };
  }, [columns]);
  /** ID of the row that was opened before the user came back. */
  const opened = useRef(keptOf<string>('opened'));
  // Restore the scroll position of a returning user.
  useLayoutEffect(() => {
    const top = keptOf<number>('table-top');
    if (top !== undefined) scroller.current?.scrollTo(0, top);
  }, []);
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => onSeen?.(rows.slice(first, last + 1)), [rows, first, last, onSeen]);
  const indexOf = (target: EventTarget | null): number =>
    Number((target as HTMLElement | null)?.closest<HTMLElement>('[data-index]')?.dataset['index']);
  /** Whether Shift was held at the last click, and the index of the row that was chosen last. */
  const isRange = useRef(false);
  const lastChosen = useRef<number>(undefined);
  /** Return the row that the keys begin at: the one that was opened last, else the first that is visible. */
  const firstFocus = (): number => {
    const { current: id } = opened;
    opened.current = undefined;
    const last = id === undefined ? -1 : rows.findIndex(({ experiment_id }) => experiment_id === id);
    if (last >= 0) return last;
    return items.find(({ start }) => start >= (scroller.current?.scrollTop ?? 0))?.index ?? 0;
  };
  const focusRow = (step: number): void => {
    const { activeElement } = document;
    const inTable = scroller.current?.contains(activeElement) ?? false;
    const present = inTable ? indexOf(activeElement) : Number.NaN;
    const next = Number.isNaN(present) ? firstFocus() : present + step;
    const index = Math.max(0, Math.min(rows.length - 1, next));
    scrollTo(index);
    focusOnceThere(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`));
  };
  const choose = (some: readonly R[], isChosen: boolean): void => {
    const next = new Set(chosen);
    for (const { experiment_id } of some) {
      if (isChosen) next.add(experiment_id);
      else next.delete(experiment_id);
    }
    onChosen(next);
  };
  /** Choose or drop a row; with Shift all rows from the last one to it. */
  const chooseTo = (index: number, isChosen: boolean, isWithRange: boolean): void => {
    const from = isWithRange ? (lastChosen.current ?? index) : index;
    lastChosen.current = index;
    choose(rows.slice(Math.min(from, index), Math.max(from, index) + 1), isChosen);
  };
  const chooseFocused = (isWithRange: boolean): void => {
    const index = indexOf(document.activeElement);
    const row = rows[index];
    if (row !== undefined) chooseTo(index, isWithRange || !chosen.has(row.experiment_id), isWithRange);
  };
  useKeys({
    j: () => focusRow(1),
    k: () => focusRow(-1),
    x: () => chooseFocused(false),
    X: () => chooseFocused(true),
    p() {
      const row = rows[indexOf(document.activeElement)];
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
        { '--rows-height': `${height + scrollbarHeight}px`, '--names': `${names}rem` } as Record<
          string,
          string
        >
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
          onKeyDown={(event) => moveFocus(event, indexOf(event.target), rows.length, scrollTo)}
          onClick={({ target, shiftKey }) => {
            isRange.current = shiftKey;
            const row = rows[indexOf(target)];
            if (row === undefined) return;
            if ((target as HTMLElement).closest('.star') !== null) return onPin?.(row);
            if ((target as HTMLElement).closest('input') === null) keep('opened', row.experiment_id);
            if ((target as HTMLElement).closest('a, input') === null) go(look.addressOf(row));
          }}
          onChange={({ target }) => {
            chooseTo(indexOf(target), (target as HTMLInputElement).checked, isRange.current);
          }}
        >
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <TableRow
                key={row.experiment_id}
                row={row}
                look={look}
                columns={columns}
                index={index}
                start={start}
                isChosen={chosen.has(row.experiment_id)}
                style={drawn.get(row.experiment_id)}
                isPinned={pinned?.has(row.experiment_id)}
                isBaseline={row.experiment_id === baseline}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}
