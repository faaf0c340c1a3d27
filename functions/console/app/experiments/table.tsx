import { useEffect, useMemo, useRef } from 'preact/hooks';
import { go, href } from '../router.ts';
import { Ago } from '../ui/parts.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Status } from '../ui/status.tsx';
import { useVirtual } from '../ui/use-virtual.ts';
import type { Column } from './columns.ts';
import { courses, wantCourses } from './courses.ts';
import type { Row } from './row.ts';
import type { Order } from './sort-rows.ts';

export const rowHeight = 38;
const headHeight = 44;

export interface TableProps {
  project_id: string;
  rows: readonly Row[];
  columns: readonly Column[];
  order: Order | undefined;
  chosen: ReadonlySet<string>;
  onChoose(id: string, isChosen: boolean): void;
  onChooseAll(isChosen: boolean): void;
  onSort(column: Column): void;
}

function Cell({ row, column, index }: { row: Row; column: Column; index: number }) {
  const shape = column.isNumber ? 'cell right' : 'cell';
  const content = () => {
    if (column.id === 'status') return <Status status={row.status} />;
    if (column.id === 'created') return <Ago time={row.created_at} />;
    if (column.id === 'course') return <Sparkline values={courses.value.get(row.experiment_id) ?? []} />;
    const text = column.text(row);
    return text === '–' ? <span class="none">–</span> : <bdi>{text}</bdi>;
  };
  return (
    <div role="cell" class={shape} aria-colindex={index + 3}>
      {content()}
    </div>
  );
}

const Head = ({
  columns,
  order,
  onSort,
  isAllChosen,
  onChooseAll,
}: Pick<TableProps, 'columns' | 'order' | 'onSort' | 'onChooseAll'> & { isAllChosen: boolean }) => (
  <div role="row" class="row head" aria-rowindex={1} style={{ height: `${headHeight}px` }}>
    <div role="columnheader" class="cell pick" aria-colindex={1}>
      <input
        type="checkbox"
        aria-label="Choose all shown experiments"
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
            <button type="button" onClick={() => onSort(column)} title={`Sort by ${column.label}`}>
              <span class="head-label">
                {column.group !== undefined && <small>{column.group}</small>}
                <bdi class="ellipsis">{column.label}</bdi>
              </span>
              <span class="arrow" aria-hidden="true">
                {isOrder ? (order?.isDescending === true ? '↓' : '↑') : ''}
              </span>
            </button>
          )}
        </div>
      );
    })}
  </div>
);

/** Move the focus between rows by the arrow keys, also to rows that are not drawn yet. */
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
  requestAnimationFrame(() =>
    requestAnimationFrame(() => table?.querySelector<HTMLElement>(`[data-index="${next}"] ${kind}`)?.focus()),
  );
}

/** The experiments as a table of which only what is seen is drawn. */
export function ExperimentsTable(props: TableProps) {
  const { project_id, rows, columns, order, chosen, onChoose, onChooseAll, onSort } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, height, scrollTo } = useVirtual(scroller, rows.length, rowHeight, headHeight);
  const template = useMemo(
    () =>
      `2.5rem var(--name-width) ${columns.map(({ width }) => `${width}rem`).join(' ')} minmax(0.5rem, 1fr)`,
    [columns],
  );
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  const hasCourses = columns.some(({ id }) => id === 'course');
  useEffect(() => {
    if (hasCourses) wantCourses(rows.slice(first, last + 1));
  }, [rows, first, last, hasCourses]);
  const address = (row: Row): string => href(['projects', project_id, 'experiments', row.experiment_id]);

  return (
    <div class="table" ref={scroller} tabIndex={-1}>
      <div
        role="table"
        aria-label="Experiments"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 2}
        class="rows"
        style={{ height: `${height}px`, '--columns': template } as Record<string, string>}
      >
        <div role="rowgroup" class="sticky">
          <Head
            columns={columns}
            order={order}
            onSort={onSort}
            onChooseAll={onChooseAll}
            isAllChosen={rows.length > 0 && rows.every(({ experiment_id }) => chosen.has(experiment_id))}
          />
        </div>
        <div role="rowgroup">
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const isChosen = chosen.has(row.experiment_id);
            return (
              <div
                key={row.experiment_id}
                role="row"
                aria-rowindex={index + 2}
                data-index={index}
                class={`row body${isChosen ? ' chosen' : ''}`}
                style={{ transform: `translateY(${start}px)`, height: `${rowHeight}px` }}
                onKeyDown={(event) => moveFocus(event, index, rows.length, scrollTo)}
                onClick={({ target }) => {
                  if ((target as HTMLElement).closest('a, input, label') === null) go(address(row));
                }}
              >
                <div role="cell" class="cell pick" aria-colindex={1}>
                  <input
                    type="checkbox"
                    aria-label={`Choose ${row.name}`}
                    checked={isChosen}
                    onChange={({ currentTarget }) => onChoose(row.experiment_id, currentTarget.checked)}
                  />
                </div>
                <div role="cell" class="cell name" aria-colindex={2}>
                  <a href={address(row)} title={row.name}>
                    <bdi>{row.name}</bdi>
                  </a>
                </div>
                {columns.map((column, at) => (
                  <Cell key={column.id} row={row} column={column} index={at} />
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
