import { extent, max } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { plainPower, valueText } from './number-text.ts';

export interface Tick {
  value: number;
  label: string;
}

/** One axis: where a value lies, in pixels, and the ticks to label. */
export interface Axis {
  place(value: number): number;
  ticks: readonly Tick[];
  isLogarithmic: boolean;
}

type Range = readonly [number, number];

/** Values that span as many times their least are drawn by their logarithm, or the small ones would all look alike. */
const logarithmicFrom = 1000;

/** The axis of values, rounded outwards to ticks; logarithmic where positive values span three powers of ten. */
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

/** The values' extent, opened where they are all alike, for a scale needs a length. */
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

/** d3's format for ticks of this size: powers of ten where plain digits would be all zeros. */
function tickStyle(largest: number): string | undefined {
  return largest >= 1e6 || (largest > 0 && largest < 1e-3) ? '~e' : undefined;
}

/** The axis of steps or of times, exactly as long as the lines. Ticks between whole steps say nothing. */
export function progressAxis(values: readonly number[], range: Range, count: number): Axis {
  const scale = scaleLinear().domain(opened(values, 1)).range(range);
  const place = (value: number) => scale(value);
  const [low = 0, high = 0] = extent(values);
  if (low === high) return { place, ticks: [{ value: low, label: valueText(low) }], isLogarithmic: false };
  const areWhole = values.every(Number.isInteger);
  const ticks = linearTicks(scale, areWhole ? Math.min(count, high - low) : count);
  return { place, ticks, isLogarithmic: false };
}

/** The unit that seconds of this extent are read in. */
export function timeUnit(longest: number): { seconds: number; name: string } {
  if (longest >= 3 * 3600) return { seconds: 3600, name: 'hours' };
  return longest >= 180 ? { seconds: 60, name: 'minutes' } : { seconds: 1, name: 'seconds' };
}
