import { maxSpan } from './layout.ts';
import { chartSize, moveChart, setChartSize } from './panel-view.ts';

/** Moves and sizes of a chart as entries of its menu, for people who do not drag. */
export function PlaceActions({ name, among }: { name: string; among: readonly string[] }) {
  const at = among.indexOf(name);
  const size = chartSize(name);
  const action = (text: string, isPossible: boolean, act: () => void) => (
    <button type="button" disabled={!isPossible} onClick={act}>
      {text}
    </button>
  );
  return (
    <>
      {action('Earlier', at > 0, () => moveChart(among, name, at - 1))}
      {action('Later', at < among.length - 1, () => moveChart(among, name, at + 1))}
      {action('Larger', size.wide < maxSpan || size.high < maxSpan, () =>
        setChartSize(name, { wide: size.wide + 1, high: size.high + 1 }),
      )}
      {action('Smaller', size.wide > 1 || size.high > 1, () =>
        setChartSize(name, { wide: size.wide - 1, high: size.high - 1 }),
      )}
    </>
  );
}
