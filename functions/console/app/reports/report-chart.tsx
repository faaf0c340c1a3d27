import { logTicksOf, ticksOf } from '../charts/values/ticks.ts';
import { lineColour, lineCount } from '../theme/colours.ts';
import { numberText } from '../ui/text/format.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import type { BlockData } from './report-calls.ts';

type Chart = BlockData<'chart'>['charts'][number];
type Curve = Chart['curves'][number];

const dashes = [undefined, '7 4', '2 3'];
const edge = { left: 56, right: 12, top: 10, bottom: 26 };

/**
 * Plot of a metric as SVG, so a saved page has it without scripts. Notes stand at their steps, by number; the list
 * below the plot has their texts.
 */
export function ReportChart({
  chart: { metric, curves },
  isLog,
  notes,
}: {
  chart: Chart;
  isLog: boolean;
  notes: readonly { step: number; text: string }[];
}) {
  const [width, height] = useNarrow() ? [340, 210] : [680, 260];
  const points = curves.map(pointsOf(isLog));
  const all = points.flat();
  const [x0, x1] = boundsOf(all.map(([x]) => x));
  const [y0, y1] = boundsOf(all.map(([, y]) => y));
  const scale = isLog ? Math.log10 : (value: number) => value;
  const [low, high] = [scale(y0), scale(y1)];
  const room = { x: width - edge.left - edge.right, y: height - edge.top - edge.bottom };
  const toX = (x: number) => edge.left + (x1 === x0 ? 0.5 : (x - x0) / (x1 - x0)) * room.x;
  const toY = (y: number) => edge.top + (high === low ? 0.5 : 1 - (scale(y) - low) / (high - low)) * room.y;
  if (all.length === 0)
    return (
      <p class="soft small">
        No numbers of <bdi>{metric}</bdi> yet.
      </p>
    );
  const shownNotes = notes.filter(({ step }) => step >= x0 && step <= x1);
  return (
    <svg
      class="report-chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${metric} of ${curves.map(({ run }) => run.name).join(', ')}`}
    >
      {(isLog ? logTicksOf(y0, y1) : ticksOf(y0, y1)).map((tick) => (
        <g key={tick}>
          <line class="grid" x1={edge.left} x2={width - edge.right} y1={toY(tick)} y2={toY(tick)} />
          <text x={edge.left - 8} y={toY(tick) + 4} text-anchor="end">
            {numberText(tick)}
          </text>
        </g>
      ))}
      {ticksOf(x0, x1, width < 400 ? 3 : 6).map((tick) => (
        <text key={tick} x={toX(tick)} y={height - 8} text-anchor="middle">
          {numberText(tick)}
        </text>
      ))}
      {curves.map(({ run }, index) => (
        <polyline
          key={run.experiment_id}
          class={lineColour(index)}
          stroke-dasharray={dashes[Math.floor(index / lineCount) % dashes.length]}
          points={(points[index] ?? [])
            .map(([x, y]) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`)
            .join(' ')}
        >
          <title>{run.name}</title>
        </polyline>
      ))}
      {shownNotes.map(({ step }, index) => (
        <g key={index} class="note">
          <line x1={toX(step)} x2={toX(step)} y1={edge.top} y2={height - edge.bottom} />
          <circle cx={toX(step)} cy={edge.top + 8} r={8} />
          <text x={toX(step)} y={edge.top + 12} text-anchor="middle">
            {notes.findIndex((note) => note.step === step) + 1}
          </text>
        </g>
      ))}
    </svg>
  );
}

/** Return the points of a curve that can be drawn. */
const pointsOf =
  (isLog: boolean) =>
  ({ steps, values }: Curve): [number, number][] =>
    values.flatMap((value, index) => {
      const step = steps[index];
      return typeof value === 'number' && step !== undefined && (!isLog || value > 0)
        ? [[step, value] as [number, number]]
        : [];
    });

const boundsOf = (values: readonly number[]): [number, number] => [
  values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
];

/** Sample of a curve's line, for the list of runs below the plot. */
export const CurveSample = ({ index }: { index: number }) => (
  <svg class="report-chart sample" viewBox="0 0 24 8" aria-hidden="true">
    <polyline
      class={lineColour(index)}
      stroke-dasharray={dashes[Math.floor(index / lineCount) % dashes.length]}
      points="0,4 24,4"
    />
  </svg>
);
