import { packBytes, type RawTensor } from './datatypes.ts';

/** Numbers of an output, with its shape. */
export interface Numbers {
  shape: readonly number[];
  values: Float32Array;
}

/** Turn the logits of a model into scores. */
export function scoresOf(activation: 'softmax' | 'sigmoid' | 'none', logits: Float32Array): Float32Array {
  if (activation === 'none') return logits.slice();
  if (activation === 'sigmoid') return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  const most = logits.reduce((best, logit) => Math.max(best, logit), Number.NEGATIVE_INFINITY);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return Float32Array.from(powers, (power) => power / sum);
}

/** The index of the largest score; the first one if a model answers no numbers. */
export const bestOf = (scores: Float32Array): number =>
  scores.reduce((best, score, index) => (score > (scores[best] ?? 0) ? index : best), 0);

/** The name of a class, as `transformers` names those without one. */
export const labelOf = (labels: readonly string[], index: number): string =>
  labels[index] ?? `LABEL_${index}`;

/** The label of the best class of each row, and all scores. */
export const labelTensors = (rows: readonly Float32Array[], labels: readonly string[]): RawTensor[] => [
  stringsTensor(
    'label',
    [rows.length],
    rows.map((row) => labelOf(labels, bestOf(row))),
  ),
  numbersTensor('scores', rows),
];

/** A tensor of rows of one length. */
export function numbersTensor(name: string, rows: readonly Float32Array[]): RawTensor {
  const width = rows[0]?.length ?? 0;
  const all = new Float32Array(rows.length * width);
  for (const [index, row] of rows.entries()) all.set(row, index * width);
  return tensor(name, 'FP32', [rows.length, width], all);
}

export const tensor = (
  name: string,
  datatype: 'FP32' | 'INT32',
  shape: readonly number[],
  values: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>,
): RawTensor => ({
  name,
  datatype,
  shape,
  bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
});

export const stringsTensor = (
  name: string,
  shape: readonly number[],
  texts: readonly string[],
): RawTensor => ({
  name,
  datatype: 'BYTES',
  shape,
  bytes: packBytes(texts.map((text) => Buffer.from(text.toWellFormed()))),
});
