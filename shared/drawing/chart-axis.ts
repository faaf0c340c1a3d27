import { extent, max } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { plainPower, valueText } from './number-text.ts';

export interface Tick {
  value: number;
  label: string;
}

/** A chart axis: maps values to pixels and lists the ticks. */
export interface Axis {
  place(value: number): number;
  ticks: readonly Tick[];
  isLogarithmic: boolean;
}

type Range = readonly [number, number];

/**
 * Ratio of the largest to the smallest value from which an axis is logarithmic. On a linear axis, the small values
 * would look alike.
 */
const logarithmicFrom = 1000;

/**
 * Build the value axis, rounded outwards to ticks. It is logarithmic if positive values span three powers of ten.
 */
export function valueAxis(values: readonly number[], range: Range, count: number): Axis {
  const [low = 0, high = 0] = extent(values);
  if (low > 1e-200 && high / low >= logarithmicFrom) {
    const scale = scaleLog().domain([low, high]).range(range).nice();
    const format = scale.tickFormat(count, '~g');
    const ticks = scale.ticks(count).map((value) => ({ value, label: plainPower(format(value)) }));
    return {
      place: (value) => scale(value),
      ticks: ticks.filter(({ label }) => label !== ''),
      isLogarithmic: true,
    };
  }
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const scale = scaleLinear()
    .domain(opened(values, largest > 1e-200 ? largest * 0.1 : 1))
    .range(range)
    .nice(count);
  return { place: (value) => scale(value), ticks: linearTicks(scale, count), isLogarithmic: false };
}

const flatBelow = 1e-9;

/** Return the range of the values. Widen it if all values are equal, because a scale needs a length. */
function opened(values: readonly number[], by: number): [number, number] {
  const [low = 0, high = 0] = extent(values);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const isFlat = high - low <= largest * flatBelow || high - low < 1e-200;
  const margin = largest < 1e-200 ? by : Math.max(by, largest * flatBelow * 10);
  return isFlat ? [low - margin, high + margin] : [low, high];
}

function linearTicks(scale: ReturnType<typeof scaleLinear<number, number>>, count: number): Tick[] {
  const values = scale.ticks(count);
  const style = tickStyle(max(scale.domain(), Math.abs) ?? 0);
  const format = style === undefined ? scale.tickFormat(count) : scale.tickFormat(count, style);
  return values.map((value) => ({ value, label: plainPower(format(value)) }));
}

/** Return d3's tick format: powers of ten for values whose plain digits would be all zeros. */
function tickStyle(largest: number): string | undefined {
  return largest >= 1e6 || (largest > 0 && largest < 1e-3) ? '~e' : undefined;
}

/** Build the axis of steps or times, exactly as long as the lines. */
export function progressAxis(values: readonly number[], range: Range, count: number): Axis {
  const scale = scaleLinear().domain(opened(values, 1)).range(range);
  const place = (value: number) => scale(value);
  const [low = 0, high = 0] = extent(values);
  if (low === high) return { place, ticks: [{ value: low, label: valueText(low) }], isLogarithmic: false };
  const areWhole = values.every(Number.isInteger);
  const ticks = linearTicks(scale, areWhole ? Math.min(count, high - low) : count);
  return { place, ticks, isLogarithmic: false };
}

/** Choose the time unit for a duration in seconds. */
export function timeUnit(longest: number): { seconds: number; name: string } {
  if (longest >= 3 * 3600) return { seconds: 3600, name: 'hours' };
  return longest >= 180 ? { seconds: 60, name: 'minutes' } : { seconds: 1, name: 'seconds' };
}
