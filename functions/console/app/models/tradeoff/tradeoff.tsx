import { useRef, useState } from 'preact/hooks';
import { bytesText } from '../../../../../shared/core/text/bytes-text.ts';
import { paretoPoints } from '../../../../../shared/onnx/receipt/pareto-points.ts';
import { ticksOf } from '../../charts/values/ticks.ts';
import { useWidth } from '../../charts/values/use-canvas.ts';
import { href, place, setQuery } from '../../ui/router.ts';
import { cut, latencyText, numberText } from '../../ui/text/format.ts';
import { placeLabels, radiiOf } from './place-labels.ts';
import { pointAfterKey } from './point-keys.ts';
import type { Quality } from './quality.ts';
import { type Measure, type Measured, type Point, pointsOf } from './tradeoff-points.ts';

const box = { left: 64, right: 24, top: 24, bottom: 44 };
const [minWidth, maxWidth] = [280, 736];
const maxLabel = 48;

/** Return the address that chooses a version on this page. */
const addressOf = ({ id }: Point): string =>
  href(place.value.parts, { ...Object.fromEntries(place.value.query), strategy: id });

/** Return the corners of steps through points, for SVG: as good as the smaller point until the larger one. */
const stepsThrough = (front: readonly { x: number; y: number }[]): string =>
  front
    .flatMap(({ x, y }, index) => {
      const before = front[index - 1];
      return before === undefined ? [`${x},${y}`] : [`${x},${before.y}`, `${x},${y}`];
    })
    .join(' ');

/** Draw the plot at the width of its place, so the texts stay readable. */
function Plot(of: Omit<Parameters<typeof PlotOfWidth>[0], 'shown'>) {
  const [holder, shown] = useWidth<HTMLDivElement>();
  return <div ref={holder}>{shown > 0 && <PlotOfWidth {...of} shown={shown} />}</div>;
}

function PlotOfWidth({
  points,
  measure,
  quality,
  chosen,
  shown,
}: {
  points: readonly Point[];
  measure: Measure;
  quality: string;
  /** Id of the chosen version, which need not be in the plot. */
  chosen: string;
  /** Width of the place in pixels. */
  shown: number;
}) {
  const marksById = useRef(new Map<string, Element & { focus(): void }>());
  const width = Math.min(maxWidth, Math.max(minWidth, shown));
  const height = width < 500 ? 280 : 330;
  const [highX, lowY, highY] = [
    Math.max(...points.map(({ x }) => x)) * 1.05,
    Math.min(...points.map(({ y }) => y)),
    Math.max(...points.map(({ y }) => y)),
  ];
  const margin = (highY - lowY || 0.02) * 0.15;
  const [floor, ceiling] = [lowY - margin, Math.min(highY + margin, 1.002)];
  const x = (value: number) => box.left + (value / highX) * (width - box.left - box.right);
  const y = (value: number) =>
    height - box.bottom - ((value - floor) / (ceiling - floor || 1)) * (height - box.top - box.bottom);
  const show = (value: number) => (measure === 'bytes' ? bytesText(Math.round(value)) : latencyText(value));
  const told = ({ label, x: at, y: good }: Point) => `${label}: ${numberText(good)} at ${show(at)}`;
  const places = points.map((point) => ({ x: x(point.x), y: y(point.y) }));
  const front = paretoPoints(points).map((point) => ({ x: x(point.x), y: y(point.y) }));
  const radii = radiiOf(places);
  const labels = placeLabels(
    points.map(({ label }, index) => ({
      x: places[index]?.x ?? 0,
      y: places[index]?.y ?? 0,
      radius: radii[index] ?? 0,
      text: cut(label, maxLabel),
    })),
    { left: box.left, right: width - 2, top: 2, bottom: height - box.bottom },
  );
  const stop = points.some(({ id }) => id === chosen) ? chosen : points[0]?.id;
  const marks = points.map((point, index) => {
    const { x: atX = 0, y: atY = 0 } = places[index] ?? {};
    const radius = radii[index] ?? 0;
    const label = labels[index];
    const mark = (
      <>
        <title>{told(point)}</title>
        {label?.isLed && (
          <line
            class="lead"
            x1={atX}
            y1={atY}
            x2={label.x + (label.anchor === 'start' ? -2 : 2)}
            y2={label.y - 4}
          />
        )}
        <circle
          cx={atX}
          cy={atY}
          r={radius}
          class={radius > 6 ? 'ring' : ''}
          style={radius > 6 ? { stroke: `var(--${point.colour})` } : { fill: `var(--${point.colour})` }}
        />
        {label !== undefined && (
          <text class="label" x={label.x} y={label.y} text-anchor={label.anchor}>
            {cut(point.label, maxLabel)}
          </text>
        )}
      </>
    );
    return (
      <a
        key={point.id}
        ref={(element) => {
          if (element === null) marksById.current.delete(point.id);
          else marksById.current.set(point.id, element);
        }}
        href={addressOf(point)}
        // One stop for the Tab key. Arrow keys go from point to point.
        tabindex={point.id === stop ? 0 : -1}
        {...(point.id === stop && { 'data-key': 's' })}
        aria-label={told(point)}
        aria-current={point.id === chosen ? 'true' : undefined}
        onKeyDown={(event) => {
          const next = pointAfterKey(points, point.id, event.key);
          if (next === undefined) return;
          event.preventDefault();
          setQuery({ strategy: next.id });
          marksById.current.get(next.id)?.focus();
        }}
      >
        {mark}
      </a>
    );
  });
  const unnamed = points.filter((_, index) => labels[index] === undefined);
  return (
    <>
      <div class="scroll-x">
        <svg class="tradeoff" width={width} height={height} role="group" aria-label={quality}>
          {ticksOf(0, highX).map((tick) => (
            <g key={tick}>
              <line class="grid" x1={x(tick)} x2={x(tick)} y1={box.top} y2={height - box.bottom} />
              <text x={x(tick)} y={height - box.bottom + 18} text-anchor="middle">
                {show(tick)}
              </text>
            </g>
          ))}
          {ticksOf(floor, ceiling).map((tick) => (
            <g key={tick}>
              <line class="grid" x1={box.left} x2={width - box.right} y1={y(tick)} y2={y(tick)} />
              <text x={box.left - 8} y={y(tick) + 4} text-anchor="end">
                {numberText(Number(tick.toPrecision(4)))}
              </text>
            </g>
          ))}
          {front.length > 1 && <polyline class="pareto" points={stepsThrough(front)} />}
          {/* Wide rings below, so that each mark can be pointed at. */}
          {marks.toReversed()}
        </svg>
      </div>
      {unnamed.length > 0 && (
        <ul class="tradeoff-more">
          {unnamed.map((point) => (
            <li key={point.id}>
              <i style={{ background: `var(--${point.colour})` }} />
              <a href={addressOf(point)} aria-current={point.id === chosen ? 'true' : undefined}>
                {point.label}
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Chart of all versions of a model: quality over size or latency. A click or an arrow key chooses a version. */
export function Tradeoff({
  family,
  quality,
  chosen,
}: {
  family: readonly Measured[];
  quality: Quality;
  chosen: string;
}) {
  const [measure, setMeasure] = useState<Measure>('bytes');
  const points = pointsOf(family, measure, quality);
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{quality.name}</h2>
        <div class="segments" role="group" aria-label="Horizontal axis">
          <button type="button" aria-pressed={measure === 'bytes'} onClick={() => setMeasure('bytes')}>
            over size
          </button>
          <button type="button" aria-pressed={measure === 'latency'} onClick={() => setMeasure('latency')}>
            over time
          </button>
        </div>
      </div>
      {points.length < 2 ? (
        <p class="soft">There are no results to compare yet.</p>
      ) : (
        <Plot points={points} measure={measure} quality={quality.name} chosen={chosen} />
      )}
      {paretoPoints(points).length > 1 && (
        <p class="soft small">
          On the line are the versions that no other beats in both. A click or an arrow key chooses one.
        </p>
      )}
      {!quality.isAccuracy && points.length >= 2 && (
        <p class="soft small">
          1 is an output like the original’s. With labels in the evaluation set the model’s accuracy is shown
          here instead
          {family.some(({ isOwn }) => !isOwn) && ', also of what was made of its results'}.
        </p>
      )}
    </section>
  );
}
