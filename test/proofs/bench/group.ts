import type { Figure } from './figure.ts';

/** Context in which a group of figures is measured. */
export interface Bench {
  /** A folder of the group's own, removed afterwards. */
  folder: string;
  /** Stops what the group has started, also when it is interrupted. */
  started: AsyncDisposableStack;
  /** Data folder of the demo. */
  demoFolder: string;
  /** Whether the demo's environment may be built, from the package index. */
  withDemo: boolean;
  /** Whether MLflow's own server is measured beside the service; it comes from the package index. */
  withMlflow: boolean;
  /** Whether FastTrackML is measured, which comes from the package index as well. */
  withFasttrackml: boolean;
  /** Whether groups that take long to make their records make a tenth of them. */
  small: boolean;
  /** Print progress. */
  say(line: string): void;
}

/** Figures that are measured together. */
export interface Group {
  /** By which it is chosen. */
  name: string;
  title: string;
  measure(bench: Bench): Promise<Figure[]>;
}
