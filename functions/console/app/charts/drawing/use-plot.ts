import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { schemeChanges } from '../../theme/colours.ts';
import { type ChartView, type Range, setRanges } from '../view.ts';
import { isHuge } from './axes.ts';
import { makePlot, plotData, type Shown } from './plot.ts';
import { type Pointed, useCursor } from './use-cursor.ts';

/** What a plot draws. */
interface Plotted {
  name: string;
  shown: readonly Shown[];
  view: ChartView;
  yRange: Range | undefined;
  width: number;
  height: number;
}

interface PlotState {
  plot: RefObject<uPlot | undefined>;
  /** Whether a finger has touched it last, which cannot hover. */
  isTouched: RefObject<boolean>;
  pointed: Pointed | undefined;
  /** Pixels from the left to the fixed crosshair, known once the plot has drawn. */
  fixedLeft: number | undefined;
}

/** What makes another plot necessary. Other changes are data or scales of the same. */
const structureOf = ({ shown, view, yRange }: Plotted, hasHuge: boolean): string => {
  const { axis, logX, logY, smoothing } = view;
  const lines = shown.map(({ id, style, edges }) => `${id}:${style}${edges === undefined ? '' : ':band'}`);
  return [hasHuge, lines, logX, logY, smoothing > 0, axis, schemeChanges.value, yRange !== undefined].join(
    '|',
  );
};

/** Draw a chart in an element. */
export function usePlot(holder: RefObject<HTMLElement | null>, plotted: Plotted): PlotState {
  const { name, shown, view, yRange, width, height } = plotted;
  const plot = useRef<uPlot>(undefined);
  const isTouched = useRef(false);
  const [fixedLeft, setFixedLeft] = useState<number>();
  const latest = useRef(plotted);
  latest.current = plotted;
  const { pointed, leave, onCursor } = useCursor(name, plot, latest);
  const hasHuge = useMemo(() => shown.some(({ raw }) => isHuge(raw.ys)), [shown]);
  const structure = structureOf(plotted, hasHuge);
  const isReady = width > 40 && height > 40;

  useEffect(() => {
    const element = holder.current;
    if (element === null || !isReady) return;
    const uplot = makePlot(element, height, hasHuge, {
      latest: () => latest.current,
      isTouched: () => isTouched.current,
      onSelect: (x, y) => setRanges(name, x, y),
      onCursor,
      onDraw(u) {
        const x = latest.current.view.at;
        const left = x === undefined ? undefined : u.valToPos(x, 'x');
        const isInside = left !== undefined && left >= 0 && left <= u.over.clientWidth;
        setFixedLeft(isInside ? left + u.bbox.left / devicePixelRatio : undefined);
      },
    });
    plot.current = uplot;
    return () => {
      uplot.destroy();
      plot.current = undefined;
      leave();
    };
  }, [structure, isReady]);

  useEffect(() => {
    const uplot = plot.current;
    if (uplot === undefined || !isReady) return;
    const { zoom } = view;
    if (uplot.width !== width || uplot.height !== height) uplot.setSize({ width, height });
    uplot.setData(plotData(shown, width, view), zoom === undefined);
    if (zoom !== undefined) uplot.setScale('x', { min: zoom[0], max: zoom[1] });
  }, [shown, width, height, view, isReady, structure, yRange]);
  return { plot, isTouched, pointed, fixedLeft };
}
