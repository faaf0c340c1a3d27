import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { cssColour, lineColour } from '../../theme/colours.ts';
import { cut } from '../../ui/text/format.ts';
import type { Axis } from './axis.ts';
import { type Item, ItemTooltip } from './item-tooltip.tsx';
import { shadeAt, shades } from './shades.ts';
import { useCanvas, useWidth } from './use-canvas.ts';

const box = { left: 52, right: 14, top: 10, bottom: 30 };
const radius = 3.5;
/** Pixels between the outermost points and the axes. */
const margin = 8;
/** Distance in pixels within which the pointer finds a point. */
const reach = 18;
/** Most labels of an axis of texts. */
const maxWords = 8;

interface ScatterProps<I extends Item> {
  title: ComponentChildren;
  /** Words for those who cannot see the points. */
  label: string;
  x: Axis;
  y: Axis;
  items: readonly I[];
  /** Place of each item between the worst and the best; undefined for those without a value. */
  ranks?: readonly (number | undefined)[] | undefined;
  /** Whether each item is chosen. The others are pale. */
  chosen: readonly boolean[];
  /** Corners of a line in units of the axes, drawn as steps. */
  steps?: readonly (readonly [x: number, y: number])[];
  height?: number;
  onOpen(item: I): void;
}

/** Points of many items by two of their values. */
export function Scatter<I extends Item>(props: ScatterProps<I>) {
  const { title, label, x, y, items, ranks, chosen, steps = [], height = 220, onOpen } = props;
  const [holder, width] = useWidth<HTMLDivElement>();
  const [near, setNear] = useState<number>();
  const spots = useMemo(
    () =>
      items.map((_, index) => {
        const [atX, atY] = [x.units[index], y.units[index]];
        return atX === undefined || atY === undefined ? undefined : spotOf(props, width, height, atX, atY);
      }),
    [items, x, y, width, height],
  );
  const canvas = useCanvas(
    { width, height },
    (context) => drawPoints(context, { ...props, steps, width, height }, spots, near),
    [spots, chosen, ranks, near, steps],
  );
  const nearest = (event: PointerEvent & { currentTarget: HTMLElement }): number | undefined => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const [atX, atY] = [event.clientX - left, event.clientY - top];
    let [found, least]: [number | undefined, number] = [undefined, reach];
    for (const [index, spot] of spots.entries()) {
      if (spot === undefined || chosen[index] === false) continue;
      const distance = Math.hypot(spot.x - atX, spot.y - atY);
      if (distance < least) [found, least] = [index, distance];
    }
    return found;
  };
  /** Points from left to right, for the arrow keys. */
  const order = useMemo(
    () =>
      spots
        .flatMap((spot, index) => (spot === undefined || chosen[index] === false ? [] : [{ ...spot, index }]))
        .sort((a, b) => a.x - b.x || a.y - b.y)
        .map(({ index }) => index),
    [spots, chosen],
  );
  const onKeyDown = (event: KeyboardEvent): void => {
    const present = near === undefined ? -1 : order.indexOf(near);
    const to: Readonly<Record<string, number>> = {
      ArrowRight: Math.min(order.length - 1, present + 1),
      ArrowLeft: Math.max(0, present - 1),
      Home: 0,
      End: order.length - 1,
    };
    const item = near === undefined ? undefined : items[near];
    const next = to[event.key];
    if (next !== undefined) setNear(order[next]);
    else if (event.key === 'Enter' && item !== undefined) onOpen(item);
    else if (event.key === 'Escape' && near !== undefined) setNear(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const left = (unit: number) => spotOf(props, width, height, unit, y.low).x;
  const top = (unit: number) => spotOf(props, width, height, x.low, unit).y;
  const spot = near === undefined ? undefined : spots[near];
  const item = near === undefined ? undefined : items[near];
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div
        ref={holder}
        class="plot scatter"
        role="img"
        tabIndex={0}
        aria-label={`${label} Arrow keys move between points, Enter opens one.`}
        style={{ height: `${height}px`, cursor: near === undefined ? '' : 'pointer' }}
        onPointerMove={(event) => setNear(nearest(event))}
        onPointerDown={(event) => setNear(nearest(event))}
        onPointerLeave={() => setNear(undefined)}
        onBlur={() => setNear(undefined)}
        onClick={() => item !== undefined && onOpen(item)}
        onKeyDown={onKeyDown}
      >
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            {thinned(y).map(({ unit, text }) => (
              <g key={unit}>
                <line class="grid" x1={box.left} x2={width - box.right} y1={top(unit)} y2={top(unit)} />
                <text x={box.left - 6} y={top(unit) + 4} text-anchor="end">
                  {cut(text, 8)}
                </text>
              </g>
            ))}
            {thinned(x).map(({ unit, text }, index, all) => (
              <g key={unit}>
                <line class="grid" x1={left(unit)} x2={left(unit)} y1={box.top} y2={height - box.bottom} />
                {hasRoom(left, all, index) && (
                  <text
                    x={left(unit)}
                    y={height - box.bottom + 18}
                    text-anchor={left(unit) > width - 26 ? 'end' : 'middle'}
                  >
                    {cut(text, 12)}
                  </text>
                )}
              </g>
            ))}
          </svg>
        )}
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
        {spot !== undefined && item !== undefined && near !== undefined && (
          <ItemTooltip at={spot} width={width} item={item} axes={[x, y]} index={near} />
        )}
      </div>
    </figure>
  );
}

/** Labels of an axis: not more texts than there is room for. */
const thinned = ({ ticks, words }: Axis): Axis['ticks'] =>
  words.length <= maxWords
    ? ticks
    : ticks.filter((_, index) => index % Math.ceil(words.length / maxWords) === 0);

/** Whether a label of the horizontal axis has room beside the one before. */
function hasRoom(left: (unit: number) => number, all: Axis['ticks'], index: number): boolean {
  const letter = 6.5;
  let end = Number.NEGATIVE_INFINITY;
  for (const [at, { unit, text }] of all.entries()) {
    const half = (Math.min(12, text.length) * letter) / 2;
    const fits = left(unit) - half > end + 4;
    if (fits) end = left(unit) + half;
    if (at === index) return fits;
  }
  return false;
}

interface Spot {
  x: number;
  y: number;
}

const spotOf = (
  { x, y }: Pick<ScatterProps<Item>, 'x' | 'y'>,
  width: number,
  height: number,
  atX: number,
  atY: number,
): Spot => ({
  x: box.left + margin + x.placeOf(atX) * (width - box.left - box.right - 2 * margin),
  y: height - box.bottom - margin - y.placeOf(atY) * (height - box.top - box.bottom - 2 * margin),
});

interface Drawn extends Pick<ScatterProps<Item>, 'x' | 'y' | 'ranks' | 'chosen'> {
  steps: readonly (readonly [x: number, y: number])[];
  width: number;
  height: number;
}

function drawPoints(
  context: CanvasRenderingContext2D,
  drawn: Drawn,
  spots: readonly (Spot | undefined)[],
  near: number | undefined,
): void {
  const { ranks, chosen, steps, width, height } = drawn;
  const colours = shades();
  const [pale, plain] = [cssColour('line'), cssColour(lineColour(0))];
  const dot = (spot: Spot, size = radius): void => {
    context.beginPath();
    context.arc(spot.x, spot.y, size, 0, 2 * Math.PI);
    context.fill();
  };
  context.fillStyle = pale;
  for (const [index, spot] of spots.entries()) if (spot !== undefined && chosen[index] === false) dot(spot);
  if (steps.length > 0) {
    const corners = steps.map(([atX, atY]) => spotOf(drawn, width, height, atX, atY));
    context.strokeStyle = cssColour('accent');
    context.lineWidth = 2;
    context.beginPath();
    for (const [index, corner] of corners.entries()) {
      const before = corners[index - 1];
      if (before === undefined) context.moveTo(corner.x, corner.y);
      else {
        context.lineTo(corner.x, before.y);
        context.lineTo(corner.x, corner.y);
      }
    }
    context.stroke();
  }
  // The best are drawn last, so that they lie on top.
  const order = [...spots.keys()]
    .filter((index) => chosen[index] !== false)
    .sort((a, b) => (ranks?.[a] ?? -1) - (ranks?.[b] ?? -1));
  context.globalAlpha = order.length > 300 ? 0.75 : 0.9;
  for (const index of order) {
    const spot = spots[index];
    if (spot === undefined) continue;
    const rank = ranks?.[index];
    context.fillStyle =
      ranks === undefined ? plain : rank === undefined ? pale : (colours[shadeAt(rank)] ?? plain);
    dot(spot);
  }
  context.globalAlpha = 1;
  const spot = near === undefined ? undefined : spots[near];
  if (spot === undefined) return;
  context.lineWidth = 2;
  context.strokeStyle = cssColour('text');
  context.beginPath();
  context.arc(spot.x, spot.y, radius + 3, 0, 2 * Math.PI);
  context.stroke();
}
