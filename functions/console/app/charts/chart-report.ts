import { createContext } from 'preact';

/** A chart as somebody sees it. */
export interface SeenChart {
  metrics: readonly string[];
  /** IDs of the experiments whose curves are drawn. */
  experiments: readonly string[];
  isLog: boolean;
  /** Step of the fixed crosshair. */
  step: number | undefined;
}

/** Takes a chart into a report. Undefined where the user may not write one. */
export const ChartReports = createContext<((chart: SeenChart) => void) | undefined>(undefined);
