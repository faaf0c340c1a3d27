import type uPlot from 'uplot';
import { differenceFrom } from '../runs/difference.ts';
import { DifferenceText } from '../runs/difference-text.tsx';
import { commonBeginning } from '../ui/text/common-beginning.ts';
import { CutName } from '../ui/text/cut-name.tsx';
import { numberText } from '../ui/text/format.ts';
import type { Near } from './drawing/plot.ts';
import { LineSample } from './line-sample.tsx';
import { baselineRun, highlighted } from './view.ts';

const maxRows = 12;
/** Height in pixels of a row, and of the rest. */
const [rowHeight, restHeight] = [18, 44];
/** Pixels between the crosshair and the box, and between the box and the edge of the chart. */
const besideBox = 16;
/** Width in pixels in which a name has room beside its value. */
const leastWidth = 200;

/** Values of the runs at the crosshair of a chart. */
export const Tooltip = ({
  left,
  top,
  size,
  plot,
  title,
  rows: all,
  isAlone,
}: {
  left: number;
  /** Height of the pointer. The nearest lines come first. Undefined for the fixed crosshair. */
  top?: number | undefined;
  /** Size of the chart, in which it stays. */
  size: { width: number; height: number };
  plot: uPlot | undefined;
  title: string;
  rows: readonly Near[];
  /** Whether the chart has one run, whose name says nothing then. */
  isAlone: boolean;
}) => {
  if (all.length === 0) return null;
  const away = ({ y }: Near): number => {
    const distance = Math.abs((plot?.valToPos(y, 'y') ?? 0) - (top ?? 0));
    return Number.isFinite(distance) ? distance : Number.MAX_VALUE;
  };
  const rows = top === undefined ? all : [...all].sort((a, b) => away(a) - away(b));
  const room = Math.max(3, Math.min(maxRows, Math.floor((size.height - restHeight) / rowHeight)));
  const isBefore = left > size.width / 2;
  const besideWidth = Math.max(left, size.width - left) - besideBox;
  // Without room for a name on either side, the box stands at the edge and covers the crosshair.
  const isAtEdge = besideWidth < leastWidth;
  const edge = isBefore ? { left: '0' } : { right: '0' };
  const style = isAtEdge
    ? { ...edge, maxWidth: `${leastWidth}px` }
    : { left: `${left}px`, maxWidth: `${besideWidth}px` };
  const beginning = commonBeginning(all.map(({ label }) => label)).length;
  const marked = highlighted.value;
  const base = all.find(({ id }) => id === baselineRun.value);
  return (
    <div class={`tip${isAtEdge ? ' at-edge' : isBefore ? ' before' : ''}`} style={style}>
      <p class="soft">{title}</p>
      {rows.slice(0, room).map(({ id, label, style, y }) => (
        <p key={id} class={id === marked ? 'marked' : ''}>
          <LineSample style={style} />
          {!isAlone && <CutName name={beginning === 0 ? label : `…${label.slice(beginning)}`} />}
          <b>{numberText(y)}</b>
          {base !== undefined && id !== base.id && (
            <DifferenceText difference={differenceFrom(base.y, y, undefined)} />
          )}
        </p>
      ))}
      {rows.length > room && <p class="soft">and {rows.length - room} more</p>}
    </div>
  );
};
