import { signal } from '@preact/signals';
import { Component, type ComponentChildren } from 'preact';
import { DrawnMark } from '../charts/drawn-mark.tsx';
import { type Column, cellText, columnPad, isRight } from '../runs/columns.ts';
import { DifferenceText } from '../runs/difference-text.tsx';
import type { Row } from '../runs/row.ts';
import { Icon } from '../ui/icon.tsx';
import { href } from '../ui/router.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { RunStatus } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { CutName } from '../ui/text/cut-name.tsx';
import { plural } from '../ui/text/format.ts';
import { sparklineOf } from './sparklines.ts';
import type { ColumnRange } from './use-visible-columns.ts';

/** Fingers need high rows, so these are not offered dense ones. */
export const hasFingers = matchMedia('(pointer: coarse)').matches;

const denseSetting = 'mps-dense-rows';

/** Whether rows of tables are dense, by the choice of this browser. */
export const isDense = signal(!hasFingers && localStorage.getItem(denseSetting) === '1');

export function setDense(next: boolean): void {
  localStorage.setItem(denseSetting, next ? '1' : '0');
  isDense.value = next;
}

/** Return the height of a row in pixels. A target of the pointer has at least 24. */
export const rowHeight = (): number => (hasFingers ? 44 : isDense.value ? 24 : 32);

const Course = ({ experiment_id }: { experiment_id: string }) => (
  <Sparkline values={sparklineOf(experiment_id).value} />
);

/** Return what a cell of the experiments' table shows. */
export function contentOf(row: Row, column: Column): ComponentChildren {
  if (column.id === 'status') return <RunStatus run={row} />;
  if (column.id === 'created') return <Ago time={row.created_at} />;
  if (column.id === 'course') return <Course experiment_id={row.experiment_id} />;
  const text = cellText(column, row);
  if (text === '–') return <span class="none">–</span>;
  return (
    <>
      <bdi data-pad={columnPad(text, column)}>{text}</bdi>
      {column.difference && <DifferenceText difference={column.difference(row)} />}
    </>
  );
}

/** What the table knows of a row. */
export interface TableItem {
  experiment_id: string;
  name: string;
  /** Warnings about its program. */
  warnings?: readonly string[];
}

/** What a table shows of its rows. */
export interface RowLook<R> {
  addressOf(row: R): string;
  contentOf(row: R, column: Column<R>): ComponentChildren;
}

interface RowProps<R> {
  row: R;
  look: RowLook<R>;
  columns: readonly Column<R>[];
  /** Columns that are drawn. */
  range: ColumnRange;
  index: number;
  /** Offset in pixels from the top of all rows. */
  start: number;
  isChosen: boolean;
  /** Line style of the row's curves; undefined if they are not drawn. */
  style: number | undefined;
  /** Whether it is pinned to the top; undefined if rows cannot be pinned. */
  isPinned: boolean | undefined;
  isBaseline: boolean;
}

/**
 * Row of a table. It skips unchanged updates, because scrolling renders the table many times a
 * second.
 */
export class TableRow<R extends TableItem> extends Component<RowProps<R>> {
  override shouldComponentUpdate(next: RowProps<R>): boolean {
    const { row, columns, range, index, start, isChosen, style, isPinned, isBaseline } = this.props;
    return (
      row !== next.row ||
      columns !== next.columns ||
      range !== next.range ||
      index !== next.index ||
      start !== next.start ||
      isChosen !== next.isChosen ||
      style !== next.style ||
      isPinned !== next.isPinned ||
      isBaseline !== next.isBaseline
    );
  }

  override render(props: RowProps<R>) {
    const { row, look, columns, range, index, start, isChosen, style, isPinned, isBaseline } = props;
    return (
      <div
        role="row"
        aria-rowindex={index + 2}
        data-index={index}
        class={`row body${isChosen ? ' chosen' : ''}`}
        style={{ transform: `translateY(${start}px)`, height: `${rowHeight()}px` }}
      >
        <div role="cell" class="cell pick" aria-colindex={1}>
          <input type="checkbox" aria-label={`Choose ${row.name}`} checked={isChosen} />
        </div>
        <div role="cell" class="cell name" aria-colindex={2}>
          {style !== undefined && <DrawnMark id={row.experiment_id} name={row.name} style={style} />}
          <a href={look.addressOf(row)} title={row.name}>
            <CutName name={row.name} />
          </a>
          {row.warnings !== undefined && row.warnings.length > 0 && (
            <span class="row-note warned" title={row.warnings.join('\n')}>
              <Icon name="warn" size={14} />
              <span class="hidden">{plural(row.warnings.length, 'warning')}</span>
            </span>
          )}
          {isBaseline && (
            <span class="row-note" title="Baseline">
              <Icon name="flag" size={14} />
              <span class="hidden">baseline</span>
            </span>
          )}
          {isPinned !== undefined && (
            <button
              type="button"
              class="star"
              tabIndex={-1}
              aria-pressed={isPinned}
              aria-label={`Pin ${row.name}`}
              title={isPinned ? 'Unpin (p)' : 'Pin to the top (p)'}
            >
              <Icon name="star" size={14} />
            </button>
          )}
        </div>
        {columns.slice(range.first, range.last).map((column, at) => (
          <div
            key={column.id}
            role="cell"
            class={isRight(column) ? 'cell right' : 'cell'}
            aria-colindex={range.first + at + 3}
            {...(at === 0 && range.first > 0 && { style: { gridColumnStart: range.first + 3 } })}
          >
            {look.contentOf(row, column)}
          </div>
        ))}
      </div>
    );
  }
}

export const addressOf = ({ project_id, experiment_id }: Row): string =>
  href(['projects', project_id, 'experiments', experiment_id]);
