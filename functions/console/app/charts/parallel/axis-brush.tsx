import { useRef, useState } from 'preact/hooks';
import type { Axis } from '../values/axis.ts';
import type { Brush } from './brushes.ts';

const width = 26;
/** Pixels of a drag below which it is a click, which clears. */
const leastDrag = 4;
/** Share of the axis that the first key chooses, and by which others move. */
const firstShare = 0.25;
const stepShare = 0.05;

/** Choosable part of a vertical axis: dragged, or moved by keys. */
export function AxisBrush({
  axis,
  x,
  top,
  bottom,
  brush,
  onBrush,
}: {
  axis: Axis;
  x: number;
  top: number;
  bottom: number;
  brush: Brush | undefined;
  onBrush(brush: Brush | undefined): void;
}) {
  const [drag, setDrag] = useState<readonly [number, number]>();
  const from = useRef(0);
  const placeAt = (clientY: number, target: Element): number => {
    const box = (target.closest('svg') ?? target).getBoundingClientRect();
    return Math.max(0, Math.min(1, (bottom - (clientY - box.top)) / (bottom - top)));
  };
  const places = drag ?? (brush && ([axis.placeOf(brush[0]), axis.placeOf(brush[1])] as const));
  /** Words are chosen as wholes. */
  const slack = axis.words.length > 0 ? 0.5 : 0;
  const toBrush = ([low, high]: readonly [number, number]): Brush => [
    axis.unitAt(low) - slack,
    axis.unitAt(high) + slack,
  ];
  const end = (event: PointerEvent): void => {
    if (drag === undefined) return;
    setDrag(undefined);
    const [low, high] = drag;
    onBrush(
      (high - low) * (bottom - top) < leastDrag
        ? undefined
        : toBrush(axis.words.length > 0 ? rounded(axis, drag) : drag),
    );
    event.stopPropagation();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (up !== undefined) {
      const [low, high] = places ?? (up > 0 ? [1 - firstShare, 1] : [0, firstShare]);
      const by = places === undefined ? 0 : up * stepShare;
      // Shift moves the upper end alone.
      const next: [number, number] = event.shiftKey
        ? [low, Math.max(low, Math.min(1, high + by))]
        : [Math.max(0, Math.min(1, low + by)), Math.max(0, Math.min(1, high + by))];
      onBrush([axis.unitAt(next[0]), axis.unitAt(next[1])]);
    } else if ((event.key === 'Escape' || event.key === 'Delete') && brush !== undefined) onBrush(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const [low, high] = places ?? [0, 1];
  const y = (place: number) => bottom - Math.max(0, Math.min(1, place)) * (bottom - top);
  const told = brush === undefined ? 'all' : `${axis.text(brush[0])} to ${axis.text(brush[1])}`;
  return (
    <g
      class="axis-brush"
      role="slider"
      // Preact leaves the names of SVG's attributes as they are.
      tabindex={0}
      aria-label={`Part of ${axis.name}`}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(Math.max(0, Math.min(1, high)) * 100)}
      aria-valuetext={told}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = placeAt(event.clientY, event.currentTarget);
        setDrag([from.current, from.current]);
        event.stopPropagation();
      }}
      onPointerMove={(event) => {
        if (drag === undefined) return;
        const at = placeAt(event.clientY, event.currentTarget);
        setDrag([Math.min(from.current, at), Math.max(from.current, at)]);
        event.stopPropagation();
      }}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
      onClick={(event) => event.stopPropagation()}
    >
      <rect class="reach" x={x - width / 2} y={top - 6} width={width} height={bottom - top + 12} />
      {places !== undefined && (
        <rect class="chosen" x={x - 6} y={y(high)} width={12} height={Math.max(3, y(low) - y(high))} rx={3} />
      )}
    </g>
  );
}

/** Widen a part of an axis of words to the nearest ones. */
const rounded = ({ unitAt, placeOf }: Axis, [low, high]: readonly [number, number]): [number, number] => [
  placeOf(Math.ceil(unitAt(low) - 0.25)),
  placeOf(Math.floor(unitAt(high) + 0.25)),
];
