import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { keptOf } from '../ui/router.ts';
import type { TableItem } from './table-row.tsx';

/** Move the focus between the rows of a table by keys. It begins at the row that was opened before the user came back. */
export function useRowFocus(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly TableItem[],
  items: readonly { index: number; start: number }[],
  scrollTo: (index: number) => void,
): { move(step: number): void } {
  const opened = useRef(keptOf<string>('opened'));
  /** Index of the row that gets the focus first: the one that was opened, else the first that is visible. */
  const firstIndex = (): number => {
    const { current: id } = opened;
    opened.current = undefined;
    const last = id === undefined ? -1 : rows.findIndex(({ experiment_id }) => experiment_id === id);
    if (last >= 0) return last;
    return items.find(({ start }) => start >= (scroller.current?.scrollTop ?? 0))?.index ?? 0;
  };
  return {
    move(step) {
      const { activeElement } = document;
      const inTable = scroller.current?.contains(activeElement) ?? false;
      const present = inTable ? rowIndex(activeElement) : Number.NaN;
      const next = Number.isNaN(present) ? firstIndex() : present + step;
      const index = Math.max(0, Math.min(rows.length - 1, next));
      scrollTo(index);
      focusOnceThere(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`));
    },
  };
}

/** Return the index of the row that an element is in, NaN for none. */
export const rowIndex = (target: EventTarget | null): number =>
  Number((target as HTMLElement | null)?.closest<HTMLElement>('[data-index]')?.dataset['index']);

/** Move the focus between rows with the arrow keys, including to rows that are not rendered yet. */
export function moveFocus(event: KeyboardEvent, count: number, scrollTo: (index: number) => void): void {
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 };
  const step = steps[event.key];
  const target = event.target as HTMLElement;
  if (step === undefined || target.closest('.table') === null) return;
  event.preventDefault();
  const next = Math.max(0, Math.min(count - 1, rowIndex(target) + step));
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
