import { CutName } from '../../ui/text/cut-name.tsx';
import type { Axis } from './axis.ts';

/** Thing that a chart of values shows: an experiment or a trial. */
export interface Item {
  name: string;
}

const maxRows = 12;

/** Values of the item at the pointer. */
export function ItemTooltip({
  at,
  width,
  item,
  axes,
  index,
}: {
  at: { x: number; y: number };
  /** Width of the chart in pixels. */
  width: number;
  item: Item;
  axes: readonly Axis[];
  index: number;
}) {
  const isBefore = at.x > width / 2;
  return (
    <div
      class={`tip${isBefore ? ' before' : ''}`}
      style={{ left: `${at.x}px`, top: `${Math.max(0, at.y - 20)}px` }}
    >
      <p class="marked">
        <CutName name={item.name} />
      </p>
      {axes.slice(0, maxRows).map(({ name, units, text }) => {
        const unit = units[index];
        return (
          <p key={name}>
            <bdi class="ellipsis">{name}</bdi>
            <b>{unit === undefined ? '–' : text(unit)}</b>
          </p>
        );
      })}
      {axes.length > maxRows && <p class="soft">and {axes.length - maxRows} more</p>}
    </div>
  );
}
