import { useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { crosshair, highlighted } from '../view.ts';
import { closestX, hideCursor, highlightIn, type Near, nearTo, type Shown } from './plot.ts';

/** Place of the pointer in a chart, with the x of the nearest point. */
export interface Pointed {
  left: number;
  top: number;
  x: number;
}

/** Distance in pixels within which the pointer highlights a line. */
const reach = 24;

/** Follow the pointer of a chart, and the crosshair and the highlight that all charts share. */
export function useCursor(
  name: string,
  plot: RefObject<uPlot | undefined>,
  latest: RefObject<{ shown: readonly Shown[] }>,
) {
  const [pointed, setPointed] = useState<Pointed>();
  const isFollowing = useRef(false);
  /** Whether this chart has highlighted a line. */
  const isHovered = useRef(false);
  const shown = () => latest.current?.shown ?? [];

  const onCursor = (u: uPlot): void => {
    if (isFollowing.current) return;
    const { left = -1, top = -1 } = u.cursor;
    if (left < 0) {
      setPointed(undefined);
      if (crosshair.peek()?.chart === name) crosshair.value = undefined;
      if (isHovered.current) highlighted.value = undefined;
      isHovered.current = false;
      return;
    }
    const x = u.posToVal(left, 'x');
    const near = nearTo(shown(), x);
    if (near.length > 1) {
      const away = ({ y }: Near): number => Math.abs(u.valToPos(y, 'y') - top);
      const line = near.reduce((best, one) => (away(one) < away(best) ? one : best));
      isHovered.current = away(line) <= reach;
      highlighted.value = isHovered.current ? line.id : undefined;
    }
    crosshair.value = { x, chart: name };
    setPointed({ left: left + u.bbox.left / devicePixelRatio, top, x: closestX(near, x) });
  };

  useSignalEffect(() => {
    const id = highlighted.value;
    if (plot.current) highlightIn(plot.current, shown(), id);
  });
  useSignalEffect(() => {
    const cross = crosshair.value;
    const drawnPlot = plot.current;
    if (!drawnPlot || cross?.chart === name) return;
    isFollowing.current = true;
    if (cross === undefined) hideCursor(drawnPlot);
    else drawnPlot.setCursor({ left: drawnPlot.valToPos(cross.x, 'x'), top: 0 });
    isFollowing.current = false;
  });
  return { pointed, leave: () => setPointed(undefined), onCursor };
}
