/** Values of a file that a gate can bound, each with the comparison that passes. */
export const gateMetrics = {
  accuracy: '>=',
  agreement: '>=',
  error: '<=',
  bytes: '<=',
  latency: '<=',
} as const;
type FileMetric = keyof typeof gateMetrics;

/** Values of trainings with a grammar of their own. Any other name is a metric that the program reports. */
export const runMetrics = { bytes: '<=', latency: '<=', cost: '<=' } as const;

export type GateMetric = FileMetric | 'cost' | 'metric';

/** What a gate is about: an ONNX file, or trainings. */
export type GateSubject = 'file' | 'runs';

/** The bound of a measured value. */
export type GateBound =
  /** An absolute share, error, number of bytes, milliseconds, US dollars or value of a metric. */
  | { kind: 'value'; value: number }
  /** A multiple of the base's value. */
  | { kind: 'factor'; value: number }
  /** The base's value plus an offset. */
  | { kind: 'offset'; value: number };

/** A condition on a measurement or a training, for scripts. */
export interface Gate {
  /** The original text. */
  text: string;
  metric: GateMetric;
  /** Name of the value; of a metric, as the program reports it. */
  name: string;
  sign: '>=' | '<=';
  bound: GateBound;
}

/** Judgement of a gate. */
export interface GateVerdict {
  gate: string;
  /** `undecided`: the interval contains the bound, so noise alone fails no gate. `unmeasured` fails. */
  verdict: 'passed' | 'failed' | 'undecided' | 'unmeasured';
  holds: boolean;
  /** The measured and the allowed value, as texts. */
  measured: string;
  allowed: string;
  /** What limits the verdict, such as the noise of few runs. */
  note?: string;
}

/** Whether a gate refers to the other file or run. */
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

/** A gate that cannot be read. */
export class GateError extends Error {
  override readonly name = 'GateError';
}
