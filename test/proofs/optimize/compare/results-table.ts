import { errorRatio, medianTime, memoryRatio, missed, processorRatio, timeRatio } from './bounds.ts';
import type { Compared } from './compare-case.ts';

const times = (ratio: number, digits = 2): string => `${ratio.toFixed(digits)} ×`;
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function row(compared: Compared): string[] {
  const { of, taken, judged } = compared;
  const { weights, activations, accuracy, latency, error } = judged;
  return [
    of.subject.name,
    of.method,
    of.method.startsWith('static_') ? String(of.samples) : '',
    `${weights.equal} of ${weights.of}`,
    activations.of === 0
      ? ''
      : `${activations.shared} of ${activations.of}, ${(activations.largest ?? 0).toExponential(1)}`,
    `${error.ours.toPrecision(3)} (${times(errorRatio(compared), 3)})`,
    accuracy === null
      ? ''
      : `${percent(accuracy.model)} → ${percent(accuracy.ours)} (${percent(accuracy.reference)})`,
    `${taken.ours.seconds.toFixed(2)} s (${times(timeRatio(compared))})`,
    times(processorRatio(compared)),
    `${megabytes(taken.ours.peak_bytes)} (${times(memoryRatio(compared))})`,
    `${judged.milliseconds.ours.toPrecision(3)} ms (${times(latency.ratio, 3)}, ${latency.interval.map((end) => end.toFixed(3)).join(' to ')})`,
    missed(compared).join('; ') || 'met',
  ];
}

const columns = [
  'model',
  'method',
  'samples',
  'weights equal',
  'scales of activations: common, largest difference',
  'output error',
  'accuracy: float → ours (reference)',
  'time',
  'processor time',
  'peak memory',
  'latency of the result',
  'bounds',
];

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The document, in Markdown. */
export function resultsDocument(all: readonly Compared[], place: string, repeats: number): string {
  const { ratio, bound, isMet } = medianTime(all);
  const met = all.filter((one) => missed(one).length === 0).length;
  return `# Beside ONNX Runtime's own quantizer

Made by \`test/proofs/optimize/compare/run.sh\`, which says how. ${place}.

Every ratio is ours / reference. Time and memory are those of the whole processes (interpreter, imports, calibration,
quantization, writing) on one core, medians of ${repeats} repeats in alternating order (one where 128
samples meet large activations, which is for the memory); ours are the stages that
calibrate and transform, as the engine runs them, without those that verify, which the reference does not do. Constants
of weights are the quantized values, scales and zero points. Errors are relative L2 errors of the output against the
float model, on data that calibrated nothing; with random weights they tell nothing but the ratio. Latency: one thread,
30 alternating blocks, the median ratio and its bootstrap 95 % interval. Models of random weights decide time, memory
and latency; trained ones, which are of a few kilobytes, so that both sides take the time of their start, decide
accuracy.

${line(columns)}
${line(columns.map(() => '---'))}
${all.map((one) => line(row(one))).join('\n')}

${met} of ${all.length} cases meet every bound. Time in the median case: ${times(ratio)}, bound ≤ ${times(bound)}: ${isMet ? 'met' : 'MISSED'}.
`;
}
