import { countText } from '../../../drawing/number-text.ts';
import { bytesText, errorText, millisecondsText, shareText } from '../../receipt/amount-text.ts';
import type { Gate } from './gate.ts';

/** Measured values for judging gates. Null if not measured. */
export interface GateFacts {
  accuracy: { file: number; base: number | null } | null;
  agreement: number | null;
  error: number | null;
  bytes: { file: number; base: number | null };
  /** Milliseconds of a run, and their ratio to the other file's, each with its interval. */
  latency: { file: Estimate; ratio: Estimate | null } | null;
}

/** A value and its interval. One in five hundred intervals misses the true value. */
export interface Estimate {
  value: number;
  interval: readonly [number, number];
}

export interface GateVerdict {
  gate: string;
  /** `undecided`: the interval contains the bound, so noise alone fails no gate. `unmeasured` fails. */
  verdict: 'passed' | 'failed' | 'undecided' | 'unmeasured';
  holds: boolean;
  /** The measured and the allowed value, as texts. */
  measured: string;
  allowed: string;
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

function bytesVerdict(gate: Gate, { bytes: { file, base } }: GateFacts): GateVerdict {
  const { kind, value } = gate.bound;
  if (kind !== 'value' && base === null) return unmeasured(gate);
  const most = kind === 'value' ? value : (base ?? 0) * value;
  return decided(gate, file <= most, exactBytes(file), `at most ${exactBytes(Math.floor(most))}`);
}

function latencyVerdict(gate: Gate, { latency }: GateFacts): GateVerdict {
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
  }
}
