import type { endpoint as readMetrics } from '../../functions/experiments/metrics/read-metrics.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { valueText } from '../../shared/drawing/number-text.ts';
import type { Experiment } from '../experiments/experiment.ts';
import type { Curve, CurvePoint } from './draw-curves.ts';
import type { CiReport } from './report.ts';

type Run = Pick<Experiment, 'project_id' | 'experiment_id'>;

/** Metrics whose curves are drawn. */
const maxCurves = 12;
/** Differences of larger values may overflow. */
const largest = 1e300;
/** Points that the service thins a curve out to. */
const maxPoints = 400;

/** Read the curves of both trainings of those metrics of which the head has more than one point. */
export async function readCurves(
  client: Client,
  names: readonly string[],
  { head, base }: { head: Run; base: Run | undefined },
): Promise<Curve[]> {
  const drawn = names.slice(0, maxCurves);
  if (drawn.length === 0) return [];
  const ofHead = await pointsOf(client, head, drawn);
  const ofBase = base === undefined ? new Map() : await pointsOf(client, base, drawn);
  return drawn.flatMap((name) => {
    const points = ofHead.get(name) ?? [];
    return points.length < 2 ? [] : [{ name, head: points, base: ofBase.get(name) ?? [] }];
  });
}

async function pointsOf(
  client: Client,
  { project_id, experiment_id }: Run,
  name: readonly string[],
): Promise<Map<string, CurvePoint[]>> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/metrics';
  const points = await client.call<typeof readMetrics>(route, {
    path: { project_id, experiment_id },
    query: { name: [...name], points: maxPoints },
  });
  const curves = new Map<string, CurvePoint[]>();
  for (const point of points) {
    if (typeof point.value !== 'number' || !Number.isFinite(point.value)) continue;
    const curve = curves.get(point.name) ?? [];
    curve.push({ x: point.step ?? curve.length, y: Math.min(largest, Math.max(-largest, point.value)) });
    curves.set(point.name, curve);
  }
  return curves;
}

/** Return curves as lines of text, for comments: no provider shows a picture that only the signed-in may see. */
export const curveTexts = (curves: readonly Curve[]): CiReport['curves'] =>
  curves.map(({ name, head, base }) => {
    const columns = Math.min(mostColumns, Math.max(head.length, base.length));
    const scale = { columns, ...scaleOf([...head, ...base]) };
    return { name, base: curveText(base, scale), head: curveText(head, scale) };
  });

const levels = [...'▁▂▃▄▅▆▇█'];
const mostColumns = 14;

interface Scale {
  columns: number;
  from: number;
  to: number;
  low: number;
  high: number;
}

function scaleOf(points: readonly CurvePoint[]): Omit<Scale, 'columns'> {
  const scale = {
    ...{ from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY },
    ...{ low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY },
  };
  for (const { x, y } of points) {
    scale.from = Math.min(scale.from, x);
    scale.to = Math.max(scale.to, x);
    scale.low = Math.min(scale.low, y);
    scale.high = Math.max(scale.high, y);
  }
  return scale;
}

/** Draw the last value of each column, then write the first and the last value. Both sides have one scale. */
function curveText(points: readonly CurvePoint[], { columns, from, to, low, high }: Scale): string {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return '';
  const filled = new Map<number, number>();
  const columnOf = (x: number) =>
    Math.min(columns - 1, Math.floor(((x - from) / (to - from || 1)) * columns));
  for (const { x, y } of points) filled.set(columnOf(x), y);
  let line = '';
  let before = first.y;
  for (let column = 0; column <= columnOf(last.x); column += 1) {
    before = filled.get(column) ?? before;
    // Halves, because the difference of large numbers may overflow. That of the least ones is 0.
    const share = high === low ? 0.5 : (before / 2 - low / 2) / (high / 2 - low / 2 || 1);
    line += levels[Math.min(levels.length - 1, Math.floor(share * levels.length))];
  }
  // The values break as a whole.
  return `${line} ${valueText(first.y)}\u00a0→\u00a0${valueText(last.y)}`;
}
