import { targetFacts, targetOf } from '../strategies/target.ts';
import { millisecondsText } from './amount-text.ts';
import type { Receipt } from './receipt.ts';

type Latency = NonNullable<Receipt['latency']>;

/** Compare the time of a result with its model's in a sentence, with the 95 % interval of the ratio. */
export function speedSentence({
  ratio,
  ratio_interval: [least, most],
  p50,
}: Pick<Latency, 'ratio' | 'ratio_interval' | 'p50'>): string {
  const said = `${times(ratio)} times as fast as the float model`;
  const interval = `95 % interval ${times(most)} to ${times(least)}`;
  const took = `${millisecondsText(p50.after)} instead of ${millisecondsText(p50.before)}`;
  if (least > 1) return `SLOWER: ${said} (${interval}; ${took})`;
  if (most < 1) return `${said} (${interval}; ${took})`;
  return `No measurable difference in speed: ${said} (${interval}; ${took})`;
}

const times = (ratio: number): string => Number((1 / ratio).toPrecision(3)).toString();

/** Instruction sets that affect 8-bit products, with their usual names. */
const deciding: Readonly<Record<string, readonly (readonly [flag: string, name: string])[]>> = {
  x64: [
    ['avx2', 'AVX2'],
    ['avx512_vnni', 'AVX-512 VNNI'],
    ['avx_vnni', 'AVX-VNNI'],
    ['amx_int8', 'AMX'],
  ],
  arm64: [
    ['asimddp', 'Arm dot product'],
    ['i8mm', 'I8MM'],
  ],
};

/** Instruction sets whose absence is reported. */
const missed: readonly string[] = ['AVX2', 'AVX-512 VNNI', 'Arm dot product', 'I8MM'];

/** Describe a processor with the present and missing instruction sets that affect the speed of 8-bit products. */
export function processorText({ processor, architecture, flags }: Receipt['hardware']): string {
  const known = deciding[architecture] ?? [];
  const has = known.filter(([flag]) => flags.includes(flag)).map(([, name]) => name);
  const lacks = known
    .filter(([flag, name]) => !flags.includes(flag) && missed.includes(name))
    .map(([, name]) => name);
  const parts = [
    ...(has.length === 0 ? [] : [`with ${has.join(', ')}`]),
    ...(lacks.length === 0 ? [] : [`without ${lacks.join(', ')}`]),
  ];
  return [`${processor} (${architecture})`, ...parts].join(' ');
}

/**
 * Return the receipt line that compares time on the measuring processor. `why` gives the reason if nothing was
 * timed.
 */
export const timeLine = (
  { latency, hardware }: Pick<Receipt, 'latency' | 'hardware'>,
  why: string | undefined,
): string =>
  latency === null
    ? `The time compared with the float model was not measured${why === undefined ? '' : `: ${why}`}. Processor: ${processorText(hardware)}.`
    : `${speedSentence(latency)}, one sample on ${hardware.threads} thread of ${processorText(hardware)}.`;

/**
 * Say which properties of a result for a target processor are measured, and which are only expected. Undefined if
 * the request names no particular target.
 */
export function targetLine(
  { request, hardware }: Pick<Receipt, 'request' | 'hardware'>,
  isTimed: boolean,
): string | undefined {
  const { for: target, quant_type, reduce_range } = request;
  const facts = targetFacts(target);
  if (facts === undefined) return undefined;
  const made = `Made for ${target} (quant_type ${quant_type}, reduce_range ${reduce_range})`;
  const here = targetOf(hardware);
  if (here === target)
    return `${made}, the type of this processor: ${isTimed ? 'time and outputs were' : 'the outputs were'} measured on it.`;
  const sums =
    facts.saturates && reduce_range !== true
      ? 'sums of 8-bit products may saturate there, so its outputs may be worse'
      : 'its outputs are expected to be about the same there';
  return `${made}. Measured on another processor (${here ?? hardware.architecture}); nothing was measured on ${target}: ${sums}, and its time is unknown. Run mps measure there.`;
}
