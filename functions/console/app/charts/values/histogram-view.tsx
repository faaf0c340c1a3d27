import { useMemo, useState } from 'preact/hooks';
import { cssColour } from '../../theme/colours.ts';
import { numberText } from '../../ui/text/format.ts';
import { type HistogramGrid, histogramGrid, type StepHistogram } from './histogram-grid.ts';
import { useCanvas, useWidth } from './use-canvas.ts';

const rows = 48;
const plotHeight = 176;
/** Room of the labels at the left and below, in pixels. */
const [left, foot] = [52, 20];

function draw(context: CanvasRenderingContext2D, { shares }: HistogramGrid, width: number): void {
  const [columnWidth, rowHeight] = [(width - left) / shares.length, (plotHeight - foot) / rows];
  context.fillStyle = cssColour('accent');
  for (const [column, line] of shares.entries()) {
    const most = Math.max(...line);
    for (const [row, share] of line.entries()) {
      if (share === 0) continue;
      context.globalAlpha = 0.08 + 0.92 * (share / most);
      context.fillRect(
        left + column * columnWidth,
        plotHeight - foot - (row + 1) * rowHeight,
        Math.ceil(columnWidth),
        Math.ceil(rowHeight),
      );
    }
  }
}

/** Histograms of a tag over steps: each step is a column, darker where more of its values are. */
export function HistogramView({ tag, histograms }: { tag: string; histograms: readonly StepHistogram[] }) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const grid = useMemo(() => histogramGrid(histograms, rows), [histograms]);
  const [at, setAt] = useState<{ column: number; row: number }>();
  const canvas = useCanvas(
    { width, height: plotHeight },
    (context) => grid !== undefined && draw(context, grid, width),
    [grid, width],
  );
  if (grid === undefined) return null;
  const { steps, low, high, shares } = grid;
  const onPointerMove = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left - left) / (width - left)) * steps.length);
    const row = Math.floor(((plotHeight - foot - (event.clientY - box.top)) / (plotHeight - foot)) * rows);
    setAt(steps[column] === undefined || row < 0 || row >= rows ? undefined : { column, row });
  };
  const valueAt = (row: number): string => numberText(low + (row / rows) * (high - low));
  const text =
    at === undefined
      ? ''
      : `step ${numberText(steps[at.column])}: ${(100 * (shares[at.column]?.[at.row] ?? 0)).toFixed(1)} % from ${valueAt(at.row)} to ${valueAt(at.row + 1)}`;
  return (
    <figure class="chart histogram">
      <figcaption>
        <strong class="ellipsis" title={tag}>
          <bdi>{tag}</bdi>
        </strong>
        <span class="soft small ellipsis">{text}</span>
      </figcaption>
      <div
        ref={holder}
        class="plot scatter"
        role="img"
        aria-label={`${tag}: histograms of ${steps.length} steps, from ${numberText(low)} to ${numberText(high)}.`}
        style={{ height: `${plotHeight}px` }}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setAt(undefined)}
      >
        <svg width={width} height={plotHeight} aria-hidden="true">
          <text x={left - 6} y={12} text-anchor="end">
            {numberText(Number(high.toPrecision(3)))}
          </text>
          <text x={left - 6} y={plotHeight - foot} text-anchor="end">
            {numberText(Number(low.toPrecision(3)))}
          </text>
          <text x={left} y={plotHeight - 4}>
            {numberText(steps[0])}
          </text>
          <text x={width} y={plotHeight - 4} text-anchor="end">
            {`step ${numberText(steps.at(-1))}`}
          </text>
        </svg>
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${plotHeight}px` }} />
      </div>
    </figure>
  );
}
