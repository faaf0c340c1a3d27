import type { Axis } from './axis.ts';

/** Key of the colours of a metric: from its worst value to its best. */
export const ShadeKey = ({ axis, isMinimized }: { axis: Axis; isMinimized: boolean }) => (
  <span class="shade-key soft small">
    <bdi>{axis.name}</bdi>
    <span class="number">{axis.text(isMinimized ? axis.high : axis.low)}</span>
    <i role="img" aria-label="from the worst to the best" />
    <span class="number">{axis.text(isMinimized ? axis.low : axis.high)}</span>
  </span>
);
