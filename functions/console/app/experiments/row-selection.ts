import { useRef } from 'preact/hooks';
import { rowIndex } from './row-focus.ts';
import type { TableItem } from './table-row.tsx';

interface RowSelection {
  /** Note whether Shift is held at the click that follows. */
  startRange(isShift: boolean): void;
  /** Choose or drop a row; with Shift all rows from the last one to it. */
  choose(index: number, isChosen: boolean): void;
  /** Choose or drop the row that has the focus; with a range choose all rows from the last one to it. */
  chooseFocused(isRange: boolean): void;
}

/** Select rows of a table by clicks and keys, one by one or as a range. */
export function useRowSelection(
  rows: readonly TableItem[],
  chosen: ReadonlySet<string>,
  onChosen: (next: ReadonlySet<string>) => void,
): RowSelection {
  const isShift = useRef(false);
  const lastIndex = useRef<number>(undefined);
  const chooseTo = (index: number, isChosen: boolean, isRange: boolean): void => {
    const from = isRange ? (lastIndex.current ?? index) : index;
    lastIndex.current = index;
    const next = new Set(chosen);
    for (const { experiment_id } of rows.slice(Math.min(from, index), Math.max(from, index) + 1)) {
      if (isChosen) next.add(experiment_id);
      else next.delete(experiment_id);
    }
    onChosen(next);
  };
  return {
    startRange(next) {
      isShift.current = next;
    },
    choose: (index, isChosen) => chooseTo(index, isChosen, isShift.current),
    chooseFocused(isRange) {
      const index = rowIndex(document.activeElement);
      const row = rows[index];
      if (row !== undefined) chooseTo(index, isRange || !chosen.has(row.experiment_id), isRange);
    },
  };
}
