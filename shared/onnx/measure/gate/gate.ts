/** Metrics of gates, each with the comparison that passes. */
export const gateMetrics = {
  accuracy: '>=',
  agreement: '>=',
  error: '<=',
  bytes: '<=',
  latency: '<=',
} as const;
export type GateMetric = keyof typeof gateMetrics;

/** The bound of a measured value. */
export type GateBound =
  /** An absolute share, error, number of bytes, or milliseconds. */
  | { kind: 'value'; value: number }
  /** A multiple of the other file's value. */
  | { kind: 'factor'; value: number }
  /** The accuracy of the other file plus an offset. */
  | { kind: 'offset'; value: number };

/** A condition on a measurement, for scripts. */
export interface Gate {
  /** The original text. */
  text: string;
  metric: GateMetric;
  bound: GateBound;
}

/** Whether a gate refers to the other file. */
export const needsBase = ({ metric, bound }: Gate): boolean =>
  bound.kind !== 'value' || metric === 'agreement' || metric === 'error';

/** Whether a gate requires labels. */
export const needsLabels = ({ metric }: Gate): boolean => metric === 'accuracy';

/** Metrics whose gates limit the loss. */
const ofLoss: readonly GateMetric[] = ['accuracy', 'agreement', 'error'];

/** Whether the gates of a result require a data set. Those on bytes and latency do not. */
export const needsSet = (gates: readonly Gate[]): boolean =>
  gates.length === 0 || gates.some(({ metric }) => ofLoss.includes(metric));

/** Exit code of a command with a failed gate. */
export const gateExitCode = 4;

/** Whether a useless result fails. It passes if a gate limits the loss. */
export const failsAsUseless = (gates: readonly Gate[], isUseless: boolean): boolean =>
  isUseless && !gates.some(({ metric }) => ofLoss.includes(metric));
