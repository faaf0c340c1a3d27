import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { CompressionDetails, Receipt } from '../api/models.ts';
import { lineColour } from '../charts/colours.ts';
import { ticksOf } from '../charts/values/ticks.ts';
import { cut, numberText } from '../ui/text/format.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import type { Relative } from './family.ts';
import { paretoPoints } from './pareto.ts';
import { placeLabels, radiiOf } from './place-labels.ts';
import { receiptOf } from './receipt-link.ts';

type Measure = 'bytes' | 'latency';

/** A compression of a model's family, with its receipt. */
export type Measured = Relative<CompressionDetails>;

interface Point {
  id: string;
  label: string;
  x: number;
  y: number;
  colour: string;
  /** Address of its receipt; undefined for the original. */
  href: string | undefined;
}

const box = { left: 64, right: 24, top: 24, bottom: 44 };
/** Colour index of the original. No compression has it. */
const originalColour = 8;
const colourCount = 8;
const maxLabel = 40;

const accuracyOf = ({ accuracy }: Receipt, side: 'before' | 'after'): number | undefined => accuracy?.[side];

/**
 * Return the agreement between the outputs and those of the optimized model. It replaces accuracy if there are no
 * labels.
 */
function likenessOf({ outputs }: Receipt, side: 'before' | 'after'): number | undefined {
  const errors = outputs.flatMap(({ relative_l2_error }) =>
    relative_l2_error === null ? [] : [relative_l2_error],
  );
  if (errors.length === 0) return undefined;
  return side === 'before' ? 1 : 1 - Math.min(1, Math.max(...errors));
}

/**
 * Return a point for the original and one for each compression. Without accuracy, skip the result of a result,
 * because its likeness does not refer to the original.
 */
function pointsOf(family: readonly Measured[], measure: Measure, hasAccuracy: boolean): Point[] {
  const qualityOf = hasAccuracy ? accuracyOf : likenessOf;
  const points: Point[] = [];
  for (const [index, compression] of family.entries()) {
    const { path, receipt, strategy_id, isOwn } = compression;
    if (receipt === null || (!hasAccuracy && !isOwn)) continue;
    const x = measure === 'bytes' ? receipt.file_bytes : receipt.latency?.p50;
    const y = qualityOf(receipt, 'after');
    const original = qualityOf(receipt, 'before');
    if (x === undefined) continue;
    if (points.length === 0 && isOwn && original !== undefined)
      points.push({
        id: 'original',
        label: 'original',
        x: x.before,
        y: original,
        colour: lineColour(originalColour),
        href: undefined,
      });
    if (y !== undefined)
      points.push({
        id: strategy_id,
        label: path,
        x: x.after,
        y,
        colour: lineColour(index % colourCount),
        href: receiptOf(compression),
      });
  }
  return points;
}

/** Return the corners of steps through points, for SVG: as good as the smaller point until the larger one. */
const stepsThrough = (front: readonly { x: number; y: number }[]): string =>
  front
    .flatMap(({ x, y }, index) => {
      const before = front[index - 1];
      return before === undefined ? [`${x},${y}`] : [`${x},${before.y}`, `${x},${y}`];
    })
    .join(' ');

function Plot({ points, measure, quality }: { points: readonly Point[]; measure: Measure; quality: string }) {
  // Draw at the displayed size, so the texts stay readable.
  const [width, height] = useNarrow() ? [340, 280] : [720, 330];
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
  const show = (value: number) =>
    measure === 'bytes' ? bytesText(Math.round(value)) : `${numberText(value)} ms`;
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
    return point.href === undefined ? (
      <g key={point.id}>{mark}</g>
    ) : (
      <a key={point.id} href={point.href} aria-label={`${told(point)}. Show its receipt`}>
        {mark}
      </a>
    );
  });
  const unnamed = points.filter((_, index) => labels[index] === undefined);
  return (
    <>
      <div class="scroll-x" tabIndex={0} role="group" aria-label={`Plot: ${points.map(told).join('; ')}`}>
        <svg class="tradeoff" viewBox={`0 0 ${width} ${height}`} role="group" aria-label={quality}>
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
        <ul class="legend tradeoff-more">
          {unnamed.map((point) => (
            <li key={point.id}>
              <i style={{ background: `var(--${point.colour})` }} />
              {point.href === undefined ? point.label : <a href={point.href}>{point.label}</a>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Chart of all results of a model: quality over size or latency. */
export function Tradeoff({ family }: { family: readonly Measured[] }) {
  const [measure, setMeasure] = useState<Measure>('bytes');
  const hasAccuracy = family.some(({ receipt, isOwn }) => isOwn && receipt?.accuracy != null);
  const points = pointsOf(family, measure, hasAccuracy);
  const quality = hasAccuracy ? 'Accuracy' : 'Likeness of the outputs';
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{quality}</h2>
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
        <Plot points={points} measure={measure} quality={quality} />
      )}
      {paretoPoints(points).length > 1 && (
        <p class="soft small">
          On the line are the results that no other beats in both. A click on a point opens its receipt.
        </p>
      )}
      {!hasAccuracy && points.length >= 2 && (
        <p class="soft small">
          1 is an output like the original’s. With labels in the evaluation set the model’s accuracy is shown
          here instead
          {family.some(({ isOwn }) => !isOwn) && ', also of what was made of its results'}.
        </p>
      )}
    </section>
  );
}
