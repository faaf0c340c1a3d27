import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { href, place, setQuery } from '../ui/router.ts';
import type { XAxis } from './series.ts';

export type Range = readonly [number, number];

/** Settings of all charts of a page. The address holds them, so that a link shows the same view. */
export interface ChartView {
  axis: XAxis;
  logX: boolean;
  logY: boolean;
  /** Weight of past values, 0 to 0.99. */
  smoothing: number;
  /** Shown part of the horizontal axis; undefined for all. */
  zoom: Range | undefined;
  /** Place of the fixed crosshair. */
  at: number | undefined;
  isWithoutOutliers: boolean;
}

/** Run that is highlighted in every chart and in the list of runs. */
export const highlighted = signal<string | undefined>(undefined);

/** Run that the others are compared with, in the list of runs and at the crosshair. */
export const baselineRun = signal<string | undefined>(undefined);

/** Crosshair of all charts, with the chart that the pointer is over. */
export const crosshair = signal<{ x: number; chart: string } | undefined>(undefined);

const number = (text: string | null): number | undefined =>
  text === null || text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);

function rangeOf(text: string | null): Range | undefined {
  const [low, high] = (text ?? '').split('..').map(number);
  return low === undefined || high === undefined || low >= high ? undefined : [low, high];
}

const axisOf = (text: string | null): XAxis =>
  text === 'time' || text === 'relative' || text?.startsWith('metrics.') ? (text as XAxis) : 'step';

/** Read the settings of the charts from the address. */
export function useChartView(): ChartView {
  const { query } = place.value;
  const texts = ['x', 'log', 'smooth', 'zoom', 'at', 'outliers'].map((name) => query.get(name));
  return useMemo(() => {
    const [x = null, log = null, smooth = null, zoom = null, at = null, outliers = null] = texts;
    return {
      axis: axisOf(x),
      logX: log?.includes('x') ?? false,
      logY: log?.includes('y') ?? false,
      smoothing: Math.min(0.99, Math.max(0, number(smooth) ?? 0)),
      zoom: rangeOf(zoom),
      at: number(at),
      isWithoutOutliers: outliers === 'out',
    };
  }, texts);
}

const round = (value: number): number => Number(value.toPrecision(7));
const rangeText = (range: Range | undefined): string | undefined =>
  range && `${round(range[0])}..${round(range[1])}`;

export const setAxis = (axis: XAxis): void =>
  setQuery({ x: axis === 'step' ? undefined : axis, zoom: undefined, at: undefined });
export const setLog = (x: boolean, y: boolean): void => setQuery({ log: `${x ? 'x' : ''}${y ? 'y' : ''}` });
export const setSmoothing = (weight: number): void =>
  setQuery({ smooth: weight === 0 ? undefined : String(weight) });
export const setZoom = (range: Range | undefined): void => setQuery({ zoom: rangeText(range) });
export const setAt = (x: number | undefined): void =>
  setQuery({ at: x === undefined ? undefined : String(round(x)) });
export const setWithoutOutliers = (isOut: boolean): void => setQuery({ outliers: isOut ? 'out' : undefined });

/** Vertical range that somebody set for a metric's chart. */
export const yRangeOf = (name: string): Range | undefined => rangeOf(place.value.query.get(`y.${name}`));
export const setYRange = (name: string, range: Range | undefined): void =>
  setQuery({ [`y.${name}`]: rangeText(range) });

/** Show a part of the charts: between two x in all, and between two y in that of a metric. */
export const setRanges = (name: string, x: Range | undefined, y: Range | undefined): void =>
  setQuery({ ...(x && { zoom: rangeText(x) }), ...(y && { [`y.${name}`]: rangeText(y) }) });
/** Show the whole of the charts, and of that of a metric also in its height. */
export const resetRanges = (name: string): void => setQuery({ zoom: undefined, [`y.${name}`]: undefined });

/** Metric whose chart fills the page. */
export const enlarged = (): string | undefined => place.value.query.get('chart') ?? undefined;
export const enlarge = (name: string | undefined): void => setQuery({ chart: name });
/** Return the address of a metric's chart as it is shown. */
export const linkTo = (name: string): string => {
  const { parts, query } = place.value;
  return new URL(href(parts, { ...Object.fromEntries(query), chart: name }), location.href).href;
};

/** Names in a setting of the address. Names may contain any character, so each is encoded. */
export function listOf(key: string): string[] {
  const text = place.value.query.get(key) ?? '';
  return text === '' ? [] : text.split(',').map(decodeURIComponent);
}
export const setList = (key: string, names: readonly string[]): void =>
  setQuery({ [key]: names.map(encodeURIComponent).join(',') });

/** Metrics whose charts are pinned to the top. */
export const pinnedCharts = (): string[] => listOf('pin');
export function pinChart(name: string): void {
  const pinned = pinnedCharts();
  setList('pin', pinned.includes(name) ? pinned.filter((one) => one !== name) : [...pinned, name]);
}

/** Runs that are not drawn. */
export const hiddenRuns = (): ReadonlySet<string> => new Set(listOf('hide'));

/** Hide or show a run. */
export function toggleRun(id: string): void {
  const hidden = listOf('hide');
  setList('hide', hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]);
}

/** Show one run alone. Show all if it is alone already. */
export function isolateRun(id: string, ids: readonly string[]): void {
  const hidden = hiddenRuns();
  const others = ids.filter((one) => one !== id);
  const isAlone = !hidden.has(id) && others.every((one) => hidden.has(one));
  setList('hide', isAlone ? [] : others);
}
export const showAllRuns = (): void => setList('hide', []);
