import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { enlarge, type Range, resetRanges, setAt, setRanges, setZoom, yRangeOf } from '../view.ts';
import { hideCursor } from './plot.ts';

/** A pointer that moves further between press and release drags instead of clicking. */
const clickPixels = 4;

/** Return the part of a scale that is shown. */
function rangeOf(plot: uPlot, scale: 'x' | 'y'): Range {
  const { min, max } = plot.scales[scale] ?? {};
  return [min ?? 0, max ?? 1];
}

interface Handled {
  name: string;
  plot: RefObject<uPlot | undefined>;
  isTouched: RefObject<boolean>;
  /** Fixed crosshair. */
  at: number | undefined;
  /** The x of the point that is nearest to the pointer. */
  pointedX: number | undefined;
}

/** Where a pan began, what was shown then, and what its last move showed. */
interface Pan {
  from: { x: number; y: number };
  x: Range;
  y: Range | undefined;
  shown: { x: Range; y: Range | undefined };
}

/** Move a range by a share of its length. A logarithmic one moves by a share of its decades. */
function moved([low, high]: Range, share: number, isLogarithmic: boolean): Range {
  if (isLogarithmic) return [low * (high / low) ** share, high * (high / low) ** share];
  return [low + (high - low) * share, high + (high - low) * share];
}

/** Handlers of the pointer over a chart: touch, click at a place, and Shift with a drag, which moves the shown part. */
export function usePointer({ name, plot, isTouched, at, pointedX }: Handled) {
  const pressedAt = useRef(0);
  const panned = useRef<Pan>(undefined);

  /**
   * Move the shown part with the pointer, always from where the pan began: steps that add up would stretch the part
   * when the axis beside it changes its width. The other charts follow at the release.
   */
  const pan = (made: uPlot, { clientX, clientY }: PointerEvent, { from, x, y }: Pan): void => {
    const isLogarithmic = (scale: 'x' | 'y') => made.scales[scale]?.distr === 3;
    const shown = {
      x: moved(x, (from.x - clientX) / made.over.clientWidth, isLogarithmic('x')),
      y: y && moved(y, (clientY - from.y) / made.over.clientHeight, isLogarithmic('y')),
    };
    made.setScale('x', { min: shown.x[0], max: shown.x[1] });
    if (shown.y) made.setScale('y', { min: shown.y[0], max: shown.y[1] });
    panned.current = { from, x, y, shown };
  };
  const panFrom = (made: uPlot, { clientX, clientY }: PointerEvent): Pan => {
    const shown = { x: rangeOf(made, 'x'), y: yRangeOf(name) && rangeOf(made, 'y') };
    return { from: { x: clientX, y: clientY }, ...shown, shown };
  };
  const endPan = ({ shown }: Pan): void => {
    panned.current = undefined;
    setRanges(name, shown.x, shown.y);
  };

  const onPointer = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const made = plot.current;
    isTouched.current = event.pointerType !== 'mouse';
    if (event.type === 'pointerdown') {
      pressedAt.current = event.clientX;
      if (event.shiftKey && !isTouched.current) {
        if (made) panned.current = panFrom(made, event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }
    }
    if (!made) return;
    if (panned.current !== undefined) {
      if (event.type === 'pointerup' || event.type === 'pointercancel') endPan(panned.current);
      else if (event.type === 'pointermove') pan(made, event, panned.current);
      return;
    }
    if (!isTouched.current || event.type === 'pointerup') return;
    // Move the crosshair to the finger.
    const box = made.over.getBoundingClientRect();
    made.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
  };

  /** Fix the crosshair at a click, or release it. */
  const onClick = (event: MouseEvent): void => {
    const made = plot.current;
    if (!made || isTouched.current || event.detail > 1 || event.shiftKey || pointedX === undefined) return;
    if (Math.abs(event.clientX - pressedAt.current) > clickPixels) return;
    const isSame = at !== undefined && Math.abs(made.valToPos(at, 'x') - made.valToPos(pointedX, 'x')) < 8;
    setAt(isSame ? undefined : pointedX);
  };
  return {
    onPointerDown: onPointer,
    onPointerMove: onPointer,
    onPointerUp: onPointer,
    onPointerCancel: onPointer,
    onClick,
    onDblClick: () => resetRanges(name),
  };
}

/**
 * Move the crosshair and zoom with the keyboard: arrows, plus, minus, 0 to reset, Enter to fix the crosshair, and F
 * to enlarge.
 */
export function onChartKey(
  event: KeyboardEvent,
  { name, plot, at }: Pick<Handled, 'name' | 'plot' | 'at'>,
): void {
  const made = plot.current;
  if (!made || event.ctrlKey || event.metaKey || event.altKey) return;
  const { left = 0 } = made.cursor;
  const step = event.shiftKey ? 40 : 8;
  const [low, high] = rangeOf(made, 'x');
  const middle = left < 0 ? (low + high) / 2 : made.posToVal(left, 'x');
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => made.setCursor({ left: Math.max(0, left - step), top: 10 }),
    ArrowRight: () =>
      made.setCursor({ left: Math.min(made.over.clientWidth, Math.max(0, left) + step), top: 10 }),
    '+': () => setZoom([middle - (middle - low) / 2, middle + (high - middle) / 2]),
    '-': () => setZoom([middle - (middle - low) * 2, middle + (high - middle) * 2]),
    '0': () => resetRanges(name),
    Enter: () => setAt(at === undefined ? middle : undefined),
    f: () => enlarge(name),
  };
  const act = event.key === 'Escape' && left >= 0 ? () => hideCursor(made) : keys[event.key];
  if (act === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
