import type uPlot from 'uplot';
import { numberText } from '../../ui/text/format.ts';
import { metricOfAxis, type XAxis } from '../series.ts';

const font = '12px system-ui';
/** Height of the horizontal axis's labels in pixels. A time axis shows the date below the hour. */
const heightOf = (axis: XAxis): number => (axis === 'time' ? 50 : 34);
const nameHeight = 18;
/** What the horizontal axis counts, where its numbers do not say so by being steps or hours. */
const nameOf = (axis: XAxis): string | undefined => (axis === 'relative' ? 'seconds' : metricOfAxis(axis));
/** Width of the vertical axis without its labels, in pixels. */
const besideLabels = 18;
const narrowest = 44;

/** Tick distances for whole steps. */
const wholeSteps = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((times) => times * 10 ** power),
).flat();

/** Above this value, uPlot has no tick distances of its own. */
const minHuge = 1e30;
export const isHuge = (values: Float64Array): boolean =>
  values.some((value) => Number.isFinite(value) && Math.abs(value) >= minHuge);

/** Return tick distances around the magnitude of a range. */
function distances(range: number): number[] {
  const power = Math.floor(Math.log10(range));
  return [-3, -2, -1, 0].flatMap((below) => [1, 2, 5].map((times) => times * 10 ** (power + below)));
}

const label = (value: number | null): string =>
  value === null ? '' : numberText(Number(value.toPrecision(6)));

/** Return the axes of a chart, as wide as their labels. */
export function axesOf({
  axis,
  logX,
  logY,
  hasHuge,
  text,
  line,
}: {
  axis: XAxis;
  logX: boolean;
  logY: boolean;
  hasHuge: boolean;
  text: string;
  line: string;
}): uPlot.Axis[] {
  const grid = { stroke: line, width: 1 };
  const common = { stroke: text, grid, ticks: grid, font };
  const name = nameOf(axis);
  const named = name !== undefined && { label: name, labelFont: font, labelSize: nameHeight, labelGap: 0 };
  return [
    { ...common, size: heightOf(axis), ...named, ...(axis === 'step' && !logX && { incrs: wholeSteps }) },
    {
      ...common,
      values: (_, splits) => splits.map(label),
      size: (u, values) => {
        u.ctx.font = `${12 * devicePixelRatio}px system-ui`;
        const widths = (values ?? []).map((value) => u.ctx.measureText(value ?? '').width / devicePixelRatio);
        return Math.ceil(Math.max(narrowest, besideLabels + Math.max(0, ...widths)));
      },
      ...(hasHuge && !logY && { incrs: (_u, _axis, low, high) => distances(high - low || Math.abs(high)) }),
    },
  ];
}

/** Return the padding right of a chart. The last label of the horizontal axis may extend beyond the axis. */
export const rightPadding =
  (axis: XAxis): uPlot.PaddingSide =>
  (u) => {
    u.ctx.font = `${12 * devicePixelRatio}px system-ui`;
    const last = axis === 'time' ? '12:00:00am' : (u.scales['x']?.max ?? 0).toLocaleString();
    return Math.ceil(u.ctx.measureText(last).width / devicePixelRatio / 2) + 4;
  };

/**
 * Return the points of a line that need a dot to be visible: those between two gaps. An undefined value belongs to
 * an x of another line and is no gap.
 */
export function isolated(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  let last: number | undefined;
  let isJoined = false;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (value === undefined) continue;
    if (value === null) {
      if (last !== undefined && !isJoined) found.push(last);
      last = undefined;
      isJoined = false;
      continue;
    }
    isJoined = last !== undefined;
    last = index;
  }
  if (last !== undefined && !isJoined) found.push(last);
  return found;
}
