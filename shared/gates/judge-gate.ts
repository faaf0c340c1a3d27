import { countText } from '../drawing/number-text.ts';
import { bytesText, errorText, millisecondsText, shareText } from '../onnx/receipt/amount-text.ts';
import type { Gate, GateVerdict } from './gate.ts';
import { judgeMetric, type MetricValues } from './judge-metric.ts';

/** Measured values for judging gates. Null if not measured. */
export interface GateFacts {
  accuracy: { file: number; base: number | null } | null;
  agreement: number | null;
  error: number | null;
  bytes: { file: number; base: number | null };
  /** Milliseconds of a run, and their ratio to the other file's, each with its interval. */
  latency: { file: Estimate; ratio: Estimate | null } | null;
}

/** Values of trainings. */
export interface RunFacts extends Pick<GateFacts, 'bytes' | 'latency'> {
  /** US dollars of the dearest training. */
  cost: number | null;
  metrics: ReadonlyMap<string, MetricValues>;
}

/** A value and its interval. One in five hundred intervals misses the true value. */
export interface Estimate {
  value: number;
  interval: readonly [number, number];
}

/** Tolerance for rounding of shares. */
const rounding = 1e-9;

/** Format sizes exactly, so different sizes never look the same. */
const exactBytes = (bytes: number): string =>
  bytes < 1000 ? bytesText(bytes) : `${bytesText(bytes)} (${countText(bytes)} bytes)`;

const timesText = (value: number): string => `${Number(value.toPrecision(3))}x`;

function decided(gate: Gate, holds: boolean, measured: string, allowed: string): GateVerdict {
  return { gate: gate.text, verdict: holds ? 'passed' : 'failed', holds, measured, allowed };
}

const unmeasured = (gate: Gate): GateVerdict => ({
  ...{ gate: gate.text, verdict: 'unmeasured', holds: false },
  ...{ measured: 'not measured', allowed: gate.text },
});

/**
 * Judge a gate on time. It fails only if the whole interval is outside the bound, and passes only if the whole
 * interval is within it.
 */
function timed(
  gate: Gate,
  { value, interval: [least, most] }: Estimate,
  text: (value: number) => string,
): GateVerdict {
  const bound = gate.bound.value;
  const verdict = least > bound ? 'failed' : most <= bound ? 'passed' : 'undecided';
  return {
    ...{ gate: gate.text, verdict, holds: verdict !== 'failed' },
    ...{ measured: `${text(value)} (${text(least)} to ${text(most)})`, allowed: `at most ${text(bound)}` },
  };
}

function accuracyVerdict(gate: Gate, { accuracy }: GateFacts): GateVerdict {
  if (accuracy === null) return unmeasured(gate);
  const { kind, value } = gate.bound;
  if (kind !== 'value' && accuracy.base === null) return unmeasured(gate);
  const least = kind === 'value' ? value : (accuracy.base ?? 0) + value;
  const holds = accuracy.file >= least - rounding;
  return decided(gate, holds, shareText(accuracy.file), `at least ${shareText(least)}`);
}

function bytesVerdict(gate: Gate, { bytes: { file, base } }: Pick<GateFacts, 'bytes'>): GateVerdict {
  const { kind, value } = gate.bound;
  if (kind !== 'value' && base === null) return unmeasured(gate);
  const most = kind === 'value' ? value : (base ?? 0) * value;
  return decided(gate, file <= most, exactBytes(file), `at most ${exactBytes(Math.floor(most))}`);
}

function latencyVerdict(gate: Gate, { latency }: Pick<GateFacts, 'latency'>): GateVerdict {
  if (latency === null) return unmeasured(gate);
  if (gate.bound.kind === 'value') return timed(gate, latency.file, millisecondsText);
  return latency.ratio === null ? unmeasured(gate) : timed(gate, latency.ratio, timesText);
}

/** Judge a measurement by a gate. */
export function judgeGate(gate: Gate, facts: GateFacts): GateVerdict {
  const { value } = gate.bound;
  switch (gate.metric) {
    case 'accuracy':
      return accuracyVerdict(gate, facts);
    case 'agreement':
      return facts.agreement === null
        ? unmeasured(gate)
        : decided(
            gate,
            facts.agreement >= value - rounding,
            shareText(facts.agreement),
            `at least ${shareText(value)}`,
          );
    case 'error':
      return facts.error === null
        ? unmeasured(gate)
        : decided(gate, facts.error <= value, errorText(facts.error), `at most ${errorText(value)}`);
    case 'bytes':
      return bytesVerdict(gate, facts);
    case 'latency':
      return latencyVerdict(gate, facts);
    case 'cost':
    case 'metric':
      return unmeasured(gate);
  }
}

/** Judge trainings by a gate. */
export function judgeRuns(gate: Gate, facts: RunFacts): GateVerdict {
  if (gate.metric === 'bytes') return bytesVerdict(gate, facts);
  if (gate.metric === 'latency') return latencyVerdict(gate, facts);
  if (gate.metric === 'cost') {
    const { value } = gate.bound;
    if (facts.cost === null)
      return { ...unmeasured(gate), note: 'The service knows no cost: on one machine trainings have none.' };
    return decided(gate, facts.cost <= value + rounding, dollars(facts.cost), `at most ${dollars(value)}`);
  }
  const values = facts.metrics.get(gate.name);
  if (values === undefined) return { ...unmeasured(gate), note: reportedText([...facts.metrics.keys()]) };
  return judgeMetric(gate, values);
}

const dollars = (amount: number): string => `US$ ${Number(amount.toFixed(amount < 1 ? 4 : 2))}`;

const reportedText = (names: readonly string[]): string =>
  names.length === 0
    ? 'The training reported no metrics.'
    : `The training reported ${names.slice(0, 20).join(', ')}.`;
