import { differenceFrom } from '../runs/difference.ts';
import { DifferenceText } from '../runs/difference-text.tsx';
import { lineColour } from '../theme/colours.ts';
import { numberText } from '../ui/text/format.ts';
import type { Near } from './plot.ts';
import { baselineRun, highlighted } from './view.ts';

const maxRows = 12;

/** Values of the runs at the crosshair of a chart. */
export const Tooltip = ({
  left,
  isBefore,
  title,
  rows,
  isAlone,
}: {
  left: number;
  /** Whether it stands left of the crosshair. */
  isBefore: boolean;
  title: string;
  rows: readonly Near[];
  /** Whether the chart has one run, whose name says nothing then. */
  isAlone: boolean;
}) => {
  if (rows.length === 0) return null;
  const marked = highlighted.value;
  const base = rows.find(({ id }) => id === baselineRun.value);
  return (
    <div class={`tip${isBefore ? ' before' : ''}`} style={{ left: `${left}px` }}>
      <p class="soft">{title}</p>
      {rows.slice(0, maxRows).map(({ id, label, style, y }) => (
        <p key={id} class={id === marked ? 'marked' : ''}>
          <i style={{ background: `var(--${lineColour(style)})` }} />
          {!isAlone && <bdi class="ellipsis">{label}</bdi>}
          <b>{numberText(y)}</b>
          {base !== undefined && id !== base.id && (
            <DifferenceText difference={differenceFrom(base.y, y, undefined)} />
          )}
        </p>
      ))}
      {rows.length > maxRows && <p class="soft">and {rows.length - maxRows} more</p>}
    </div>
  );
};
