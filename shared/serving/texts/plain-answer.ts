import { elementsOf, type RawTensor, unpackBytes } from '../protocol/datatypes.ts';

interface Answered {
  model_name: string;
  model_version: string;
  id: string | undefined;
  tensors: readonly RawTensor[];
}

/**
 * Write the answer to texts that came without tensors: `embeddings`; `labels`, each with its score; `scores` of a model with one
 * class; or `tokens` of each text. `cut` has the indices of the texts that are longer than the model reads.
 */
export function writePlainAnswer({ tensors, id, ...answered }: Answered): string {
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const cut = numbersOf(named.get('cut'));
  const head = { ...answered, ...(id !== undefined && { id }) };
  return JSON.stringify({ ...head, ...answerOf(named), ...(cut.length > 0 && { cut }) });
}

type Named = ReadonlyMap<string, RawTensor>;

function answerOf(named: Named): object {
  const embedding = named.get('embedding');
  if (embedding !== undefined) return { embeddings: rowsOf(numbersOf(embedding), embedding.shape) };
  const labels = textsOf(named.get('label'));
  const scores = named.get('scores');
  if (scores !== undefined) {
    const rows = rowsOf(numbersOf(scores), scores.shape);
    if (scores.shape[1] === 1) return { scores: rows.map(([score]) => score) };
    return {
      labels: rows.map((row, index) => ({
        label: labels[index],
        score: row.reduce((best, score) => Math.max(best, score), -Infinity),
      })),
    };
  }
  const score = numbersOf(named.get('score'));
  const all = textsOf(named.get('token')).map((token, at) => ({
    token,
    label: labels[at],
    score: score[at],
  }));
  // Texts with fewer tokens than the longest one end in empty ones.
  const rows = rowsOf(all, named.get('token')?.shape ?? []);
  return { tokens: rows.map((row) => row.filter(({ label }) => label !== '')) };
}

const rowsOf = <T>(values: readonly T[], [rows = 0, width = 0]: readonly number[]): T[][] =>
  Array.from({ length: rows }, (_, row) => values.slice(row * width, (row + 1) * width));

/** Nine digits tell each number of 32 bits from the next. */
const numbersOf = (tensor: RawTensor | undefined): number[] =>
  tensor === undefined
    ? []
    : Array.from<number | bigint, number>(elementsOf(tensor), (value) =>
        Number(Number(value).toPrecision(9)),
      );

const textsOf = (tensor: RawTensor | undefined): string[] =>
  (unpackBytes(tensor?.bytes ?? new Uint8Array()) ?? []).map((bytes) => Buffer.from(bytes).toString('utf8'));
