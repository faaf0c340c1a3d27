import { listOf, setList } from '../view.ts';
import {
  type ChartSize,
  movedOrder,
  type Panel,
  panelText,
  readPanel,
  readSizes,
  sizeTexts,
  sizeWithin,
} from './layout.ts';

/** Panels that somebody put together. */
export const panels = (): Panel[] => listOf('panels').flatMap((text) => readPanel(text) ?? []);
export function addPanel(panel: Panel): void {
  const name = panelText(panel);
  setList('panels', [...otherPanels(name), name]);
}
/** Remove the panel of a name, its text in the address. */
export const removePanel = (name: string): void => setList('panels', otherPanels(name));
const otherPanels = (name: string): string[] => listOf('panels').filter((panel) => panel !== name);

/** Charts in the order that somebody gave them. */
export const chartOrder = (): string[] => listOf('order');
/** Move a chart among those of its section. */
export const moveChart = (shown: readonly string[], name: string, to: number): void =>
  setList('order', movedOrder(shown, chartOrder(), name, to));

/** Sizes of charts that are not one column wide and one row high. */
const chartSizes = (): Map<string, ChartSize> => readSizes(listOf('sizes'));
export const chartSize = (name: string): ChartSize => chartSizes().get(name) ?? { wide: 1, high: 1 };
export const setChartSize = (name: string, size: ChartSize): void =>
  setList('sizes', sizeTexts(chartSizes().set(name, sizeWithin(size))));
