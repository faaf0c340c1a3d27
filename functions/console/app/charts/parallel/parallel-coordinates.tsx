import { useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/controls/button.tsx';
import { cut } from '../../ui/text/format.ts';
import type { Axis } from '../values/axis.ts';
import { type Item, ItemTooltip } from '../values/item-tooltip.tsx';
import { useCanvas, useWidth } from '../values/use-canvas.ts';
import { AxisBrush } from './axis-brush.tsx';
import { AxisChoice } from './axis-choice.tsx';
import type { Brushes } from './brushes.ts';
import { drawLines } from './draw-lines.ts';
import { clearBrushes, setBrush } from './use-brushes.ts';

const height = 340;
const box = { top: 46, bottom: 30 };
/** Room beside the first and the last axis, and the least between two of them. */
const wideRoom = { side: 64, gapLeast: 88 };
/** The same on a phone, so that the last of four axes is whole. */
const phoneRoom = { side: 34, gapLeast: 76 };
const phoneWidth = 480;
const roomOf = (width: number) => (width < phoneWidth ? phoneRoom : wideRoom);
/** Pixels of a letter in the name of an axis. */
const letterWidth = 6.7;
const maxName = 18;
/** Distance in pixels within which the pointer finds a line. */
const reach = 8;
const maxWords = 30;
/** Fewest and most axes before somebody chooses, and most outcomes among them. */
const drawnLeast = 4;
const drawnMost = 10;
const outcomesFirst = 3;

/**
 * Choose the axes to draw first, as many as have room. Inputs come first, but some places stay free for outcomes: without
 * the last axis nobody sees what the inputs led to.
 */
function usualAxes(all: readonly Axis[], width: number): Set<string> {
  const { side, gapLeast } = roomOf(width);
  const room = Math.floor((width - side * 2) / gapLeast) + 1;
  const count = Math.max(drawnLeast, Math.min(drawnMost, room));
  const given = all.filter(({ isOutcome }) => !isOutcome);
  const outcomes = all.filter(({ isOutcome }) => isOutcome);
  const least = count === drawnMost ? outcomesFirst : 1;
  const shown = outcomes.slice(0, Math.max(least, count - given.length));
  return new Set([...given.slice(0, count - shown.length), ...shown].map(({ name }) => name));
}

/** Parallel coordinates: one line for each item through its values. A part of an axis that is chosen leaves the others pale. */
export function Parallel<I extends Item & { style?: number | undefined }>({
  items,
  axes: all,
  ranks,
  brushes,
  chosen,
  what,
  onOpen,
}: {
  items: readonly I[];
  /** All axes that there are. */
  axes: readonly Axis[];
  /** Place of each item between the worst and the best. Without it, lines have the colours of their items. */
  ranks?: readonly (number | undefined)[] | undefined;
  brushes: Brushes;
  chosen: readonly boolean[];
  /** Plural of what an item is, such as `trials`. */
  what: string;
  onOpen(item: I): void;
}) {
  const [holder, shownWidth] = useWidth<HTMLDivElement>();
  const usual = useMemo(() => usualAxes(all, shownWidth), [all, shownWidth]);
  const [picked, setPicked] = useState<ReadonlySet<string>>();
  const axes = useMemo(() => all.filter(({ name }) => (picked ?? usual).has(name)), [all, picked, usual]);
  const [near, setNear] = useState<{ index: number; x: number; y: number }>();
  const pressed = useRef(false);
  const { side, gapLeast } = roomOf(shownWidth);
  const gap = Math.max(gapLeast, (shownWidth - side * 2) / Math.max(1, axes.length - 1));
  const width = shownWidth === 0 ? 0 : side * 2 + gap * (axes.length - 1);
  const x = (at: number) => side + at * gap;
  const y = (place: number) => height - box.bottom - place * (height - box.top - box.bottom);
  const lines = useMemo(
    () =>
      items.map((_, index) =>
        axes.map(({ units, placeOf }) => {
          const unit = units[index];
          return unit === undefined ? undefined : y(placeOf(unit));
        }),
      ),
    [items, axes],
  );
  const canvas = useCanvas(
    { width, height },
    (context) => drawLines(context, { lines, items, ranks, chosen, near: near?.index, x }),
    [lines, chosen, ranks, near?.index, gap],
  );
  const find = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const [atX, atY] = [event.clientX - left, event.clientY - top];
    const from = Math.max(0, Math.min(axes.length - 2, Math.floor((atX - side) / gap)));
    const share = (atX - x(from)) / gap;
    let [found, least]: [number | undefined, number] = [undefined, reach];
    for (const [index, line] of lines.entries()) {
      const [one, other] = [line[from], line[from + 1]];
      if (chosen[index] === false || one === undefined || other === undefined) continue;
      const distance = Math.abs(one + (other - one) * share - atY);
      if (distance < least) [found, least] = [index, distance];
    }
    return found === undefined ? undefined : { index: found, x: atX, y: atY };
  };
  const item = near === undefined ? undefined : items[near.index];
  const count = chosen.filter(Boolean).length;
  return (
    <>
      {all.length > 2 && <AxisChoice all={all} drawn={axes} onChange={setPicked} />}
      <div class="parallel panel" tabIndex={0} role="group" aria-label="Parallel coordinates">
        <div ref={holder} class="parallel-width">
          <div
            class="parallel-plot"
            style={{
              width: `${width}px`,
              height: `${height}px`,
              cursor: item === undefined ? '' : 'pointer',
            }}
            onPointerMove={(event) => setNear(event.buttons === 0 ? find(event) : undefined)}
            onPointerDown={() => {
              pressed.current = near !== undefined;
            }}
            onPointerLeave={() => setNear(undefined)}
            onClick={() => pressed.current && item !== undefined && onOpen(item)}
          >
            <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
            {width > 0 && (
              <svg width={width} height={height} role="group" aria-label={`Axes of ${items.length} ${what}`}>
                {axes.map((axis, at) => (
                  <g key={axis.name}>
                    <line class="axis" x1={x(at)} x2={x(at)} y1={box.top} y2={height - box.bottom} />
                    <AxisName name={axis.name} x={x(at)} gap={gap} width={width} />
                    {axis.words.length === 0 && (
                      <>
                        <text x={x(at)} y={box.top - 8} text-anchor="middle">
                          {axis.text(axis.high)}
                        </text>
                        <text x={x(at)} y={height - box.bottom + 18} text-anchor="middle">
                          {axis.text(axis.low)}
                        </text>
                      </>
                    )}
                    {axis.words.slice(0, maxWords).map((word, unit) => (
                      <text key={word} class="word" x={x(at) + 6} y={y(axis.placeOf(unit)) + 4}>
                        {cut(word, 14)}
                      </text>
                    ))}
                    <AxisBrush
                      axis={axis}
                      x={x(at)}
                      top={box.top}
                      bottom={height - box.bottom}
                      brush={brushes.get(axis.name)}
                      onBrush={(brush) => setBrush(axis.name, brush)}
                    />
                  </g>
                ))}
              </svg>
            )}
            {item !== undefined && near !== undefined && (
              <ItemTooltip at={near} width={width} item={item} axes={axes} index={near.index} />
            )}
          </div>
        </div>
      </div>
      <p class="soft small parallel-note" role="status">
        {brushes.size === 0 ? (
          'Drag along an axis to choose a part of it; with the keyboard, arrow keys on an axis.'
        ) : (
          <>
            {count.toLocaleString('en')} of {items.length.toLocaleString('en')} {what} chosen{' '}
            <Button kind="quiet" icon="close" onClick={() => clearBrushes(brushes)}>
              Clear
            </Button>
          </>
        )}
      </p>
    </>
  );
}

/** Name above an axis, as long as there is room for. Names that would leave the plot begin or end at its edge. */
function AxisName({ name, x, gap, width }: { name: string; x: number; gap: number; width: number }) {
  const shown = cut(name, Math.max(8, Math.min(maxName, Math.floor((gap - 2) / letterWidth))));
  const half = (shown.length * letterWidth) / 2;
  const [anchor, at] =
    x < half
      ? (['start', 2] as const)
      : x + half > width
        ? (['end', width - 2] as const)
        : (['middle', x] as const);
  return (
    <text class="name" x={at} y={16} text-anchor={anchor}>
      {shown}
    </text>
  );
}
