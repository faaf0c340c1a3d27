import { LineSample } from './line-sample.tsx';
import { hiddenRuns, highlighted, isolateRun, toggleRun } from './view.ts';

/** Run of a table whose curves are drawn. */
interface Drawn {
  id: string;
  name: string;
  /** Line style of its curves. */
  style: number;
}

/**
 * Mark of a row in the table beside the curves, which is their legend: its line. A click hides the row's curves, and
 * with Alt it shows them alone.
 */
export function DrawnMark({ id, name, style }: Drawn) {
  const isShown = !hiddenRuns().has(id);
  return (
    <button
      type="button"
      class={`drawn-mark${isShown ? '' : ' off'}${highlighted.value === id ? ' marked' : ''}`}
      data-drawn={id}
      aria-pressed={isShown}
      aria-label={`Draw ${name}`}
      title={`Click to ${isShown ? 'hide' : 'show'} its curves, Alt-click to show them alone`}
    >
      <LineSample style={style} />
    </button>
  );
}

/** Act on a click in a table with marks. Return whether it was at a mark. */
export function clickMark({ target, altKey }: MouseEvent, ids: readonly string[]): boolean {
  const id = (target as HTMLElement).closest<HTMLElement>('[data-drawn]')?.dataset['drawn'];
  if (id === undefined) return false;
  highlighted.value = undefined;
  if (altKey) isolateRun(id, ids);
  else toggleRun(id);
  return true;
}

/** Highlight in every chart the curves of the row that the pointer is over. */
export const highlightRow = (target: EventTarget | null): void => {
  const mark = (target as HTMLElement | null)
    ?.closest('[role=row], tbody')
    ?.querySelector<HTMLElement>('[data-drawn]:not(.off)');
  highlighted.value = mark?.dataset['drawn'];
};
