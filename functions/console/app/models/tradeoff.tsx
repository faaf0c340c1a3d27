import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/bytes-text.ts';
import type { Receipt, StrategyDetails } from '../api/models.ts';
import { lineColour } from '../charts/colours.ts';
import { numberText } from '../ui/format.ts';
import { useNarrow } from '../ui/use-narrow.ts';

type Measure = 'bytes' | 'latency';

interface Point {
  label: string;
  x: number;
  y: number;
  colour: number;
}

const box = { left: 64, right: 24, top: 24, bottom: 44 };

const qualityOf = ({ accuracy, outputs }: Receipt, side: 'before' | 'after'): number | undefined => {
  if (accuracy !== null) return accuracy[side];
  // Without labels: how near the outputs are to those of the original.
  const errors = outputs.flatMap(({ relative_l2_error }) =>
    relative_l2_error === null ? [] : [relative_l2_error],
  );
  if (errors.length === 0) return undefined;
  return side === 'before' ? 1 : 1 - Math.min(1, Math.max(...errors));
};

function pointsOf(strategies: readonly StrategyDetails[], measure: Measure): Point[] {
  const points: Point[] = [];
  for (const [index, { label, receipt }] of strategies.entries()) {
    if (receipt === null) continue;
    const x = measure === 'bytes' ? receipt.file_bytes : receipt.latency?.p50;
    const y = qualityOf(receipt, 'after');
    const original = qualityOf(receipt, 'before');
    if (x === undefined) continue;
    if (points.length === 0 && original !== undefined)
      points.push({ label: 'original', x: x.before, y: original, colour: 8 });
    if (y !== undefined) points.push({ label, x: x.after, y, colour: index % 8 });
  }
  return points;
}

function ticksOf(low: number, high: number): number[] {
  const raw = (high - low) / 4 || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * size).find((one) => one >= raw) ?? raw;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step / 1e6; tick += step) ticks.push(tick);
  return ticks;
}

/** Everything that was made of a model: how good it still is over how large or how slow it has become. */
export function Tradeoff({ strategies }: { strategies: readonly StrategyDetails[] }) {
  const [measure, setMeasure] = useState<Measure>('bytes');
  // Drawn as large as it is shown, so that its texts can be read.
  const [width, height] = useNarrow() ? [340, 280] : [720, 330];
  const points = pointsOf(strategies, measure);
  const hasAccuracy = strategies.some(({ receipt }) => receipt?.accuracy != null);
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
  const isFar = (point: Point): boolean => x(point.x) > width * 0.62;
  /** Labels of points that are near go below one another. */
  const placed: { x: number; y: number }[] = [];
  const labelY = (point: Point): number => {
    let at = y(point.y) + 4;
    while (placed.some((other) => Math.abs(other.x - x(point.x)) < 130 && Math.abs(other.y - at) < 14))
      at += 14;
    placed.push({ x: x(point.x), y: at });
    return at;
  };
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{hasAccuracy ? 'Accuracy' : 'Likeness of the outputs'}</h2>
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
        <p class="soft">There is nothing to compare yet.</p>
      ) : (
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Plot">
          <svg
            class="tradeoff"
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={points
              .map(({ label, x: at, y: quality }) => `${label}: ${numberText(quality)} at ${show(at)}`)
              .join('; ')}
          >
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
            {points.map((point) => (
              <g key={point.label + point.x}>
                <circle cx={x(point.x)} cy={y(point.y)} r="6.5" fill={`var(--${lineColour(point.colour)})`} />
                <text
                  class="label"
                  x={x(point.x) + (isFar(point) ? -11 : 11)}
                  y={labelY(point)}
                  text-anchor={isFar(point) ? 'end' : 'start'}
                >
                  {point.label}
                </text>
              </g>
            ))}
          </svg>
        </div>
      )}
      {!hasAccuracy && points.length >= 2 && (
        <p class="soft small">Upload an evaluation set with the model to see its accuracy here instead.</p>
      )}
    </section>
  );
}
