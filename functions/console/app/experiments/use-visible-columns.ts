import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Column } from '../runs/columns.ts';

/** Columns that a row draws: those from the first up to the last, without it. */
export interface ColumnRange {
  first: number;
  last: number;
}

/** Number of columns up to which all are drawn. */
const maxWhole = 24;
/** Rem beside the visible part in which columns are drawn, too. It includes the widest name. */
const margin = 26;

/** Return the columns near the visible part of a table. */
export function useVisibleColumns<R>(
  scroller: RefObject<HTMLElement | null>,
  columns: readonly Column<R>[],
): ColumnRange {
  const count = columns.length;
  const [range, setRange] = useState(whole);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || count <= maxWhole) return;
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const look = (): void => {
      const left = element.scrollLeft / rem - margin;
      const right = (element.scrollLeft + element.clientWidth) / rem + margin / 2;
      let [at, first, last] = [0, 0, count];
      for (const [index, { width }] of columns.entries()) {
        if (at + width < left) first = index + 1;
        if (at > right) {
          last = index;
          break;
        }
        at += width;
      }
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [columns]);
  return count <= maxWhole ? whole : range;
}

const whole: ColumnRange = { first: 0, last: maxWhole };
