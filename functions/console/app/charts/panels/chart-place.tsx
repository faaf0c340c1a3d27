import type { ComponentChildren, RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type ChartSize, sizeWithin } from './layout.ts';
import { chartSize, moveChart, setChartSize } from './panel-view.ts';

/** Height of a plot that is one row high, and of a chart's frame around it, in pixels. */
const plotHeight = 176;
const frameHeight = 42;
const gap = 12;

/** Return the height of a plot that is so many rows high. */
export const plotHeightOf = (rows: number): number =>
  rows * (plotHeight + frameHeight + gap) - gap - frameHeight;

/** Chart that is dragged, with the charts of its section. */
let dragged: { name: string; among: readonly string[] } | undefined;

/** Place of a chart in the grid. It is dragged at its head to another place, and to another size at its corner. */
export function ChartPlace({
  name,
  among,
  holder,
  children,
}: {
  name: string;
  /** Charts of the section in their order. */
  among: readonly string[];
  holder: RefObject<HTMLDivElement | null>;
  children: ComponentChildren;
}) {
  const [isOver, setOver] = useState(false);
  const [drawn, setDrawn] = useState<ChartSize>();
  const start = useRef<{ x: number; y: number; width: number; size: ChartSize }>(undefined);
  const size = drawn ?? chartSize(name);
  const fits = () => dragged !== undefined && dragged.name !== name && dragged.among.includes(name);

  const onResize = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const { clientX: x, clientY: y, type, pointerId } = event;
    const from = start.current;
    if (type === 'pointerdown') {
      event.preventDefault();
      event.currentTarget.setPointerCapture(pointerId);
      start.current = { x, y, width: (holder.current?.clientWidth ?? 1) / size.wide, size };
    } else if (from !== undefined) {
      const steps = (pixels: number, one: number) => Math.round(pixels / one);
      const next = sizeWithin({
        wide: from.size.wide + steps(x - from.x, from.width),
        high: from.size.high + steps(y - from.y, plotHeight),
      });
      setDrawn(type === 'pointermove' ? next : undefined);
      if (type === 'pointermove') return;
      start.current = undefined;
      setChartSize(name, next);
    }
  };
  return (
    <div
      ref={holder}
      class={isOver ? 'chart-place over' : 'chart-place'}
      style={{
        gridColumn: `span ${size.wide}`,
        gridRow: `span ${size.high}`,
        height: `${plotHeightOf(size.high) + frameHeight}px`,
      }}
      onDragStart={({ target, dataTransfer }) => {
        if (!(target as HTMLElement).matches('figcaption')) return;
        dragged = { name, among };
        dataTransfer?.setData('text/plain', name);
      }}
      onDragEnd={() => (dragged = undefined)}
      onDragOver={(event) => {
        if (!fits()) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!fits() || dragged === undefined) return;
        event.preventDefault();
        moveChart(among, dragged.name, among.indexOf(name));
      }}
    >
      {children}
      <i
        class="chart-corner"
        title="Drag to another size"
        onPointerDown={onResize}
        onPointerMove={onResize}
        onPointerUp={onResize}
      />
    </div>
  );
}
