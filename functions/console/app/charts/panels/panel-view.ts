import { listOf, setList } from '../view.ts';
import {
  type ChartSize,
  maxSpan,
  movedOrder,
  type Panel,
  panelText,
  readPanel,
  readSizes,
  sizeTexts,
} from './layout.ts';

/** Panels that somebody put together. */
export const panels = (): Panel[] => listOf('panels').flatMap((text) => readPanel(text) ?? []);
export function addPanel(panel: Panel): void {
  const text = panelText(panel);
  setList('panels', [...listOf('panels').filter((panel) => panel !== text), text]);
}
/** Remove the panel of a name, its text in the address. */
export const removePanel = (name: string): void =>
  setList(
    'panels',
    listOf('panels').filter((panel) => panel !== name),
  );

/** Charts in the order that somebody gave them. */
export const chartOrder = (): string[] => listOf('order');
/** Move a chart among those of its section. */
export const moveChart = (shown: readonly string[], name: string, to: number): void =>
  setList('order', movedOrder(shown, chartOrder(), name, to));

/** Sizes of charts that are not one column wide and one row high. */
export const chartSizes = (): Map<string, ChartSize> => readSizes(listOf('sizes'));
export const setChartSize = (name: string, { wide, high }: ChartSize): void =>
  setList(
    'sizes',
    sizeTexts(
      chartSizes().set(name, {
        wide: Math.max(1, Math.min(maxSpan, wide)),
        high: Math.max(1, Math.min(maxSpan, high)),
      }),
    ),
  );
