/** What a gate is about, and which way is good. */
export const gateMetrics = {
  accuracy: '>=',
  agreement: '>=',
  error: '<=',
  bytes: '<=',
  latency: '<=',
} as const;
export type GateMetric = keyof typeof gateMetrics;

/** What a measured value is held against. */
export type GateBound =
  /** A share or an error by itself, bytes, or milliseconds. */
  | { kind: 'value'; value: number }
  /** So many times the value of the other file. */
  | { kind: 'factor'; value: number }
  /** The accuracy of the other file, and so much more or less. */
  | { kind: 'offset'; value: number };

/** A condition that a script sets on a measurement. */
export interface Gate {
  /** As it was written. */
  text: string;
  metric: GateMetric;
  bound: GateBound;
}

/** Whether a gate speaks of the other file. */
export const needsBase = ({ metric, bound }: Gate): boolean =>
  bound.kind !== 'value' || metric === 'agreement' || metric === 'error';

/** Whether a gate speaks of labels. */
export const needsLabels = ({ metric }: Gate): boolean => metric === 'accuracy';

/** Exit code of a command whose gate does not hold. */
export const gateExitCode = 4;

/** Gates that say by themselves how much may be lost. */
const ofLoss: readonly GateMetric[] = ['accuracy', 'agreement', 'error'];

/** Whether a result of no use fails: unless a gate says how much may be lost. */
export const failsAsUseless = (gates: readonly Gate[], isUseless: boolean): boolean =>
  isUseless && !gates.some(({ metric }) => ofLoss.includes(metric));
