import type { Model } from '../../../../shared/onnx/model/file/model.ts';
import { Draft } from './draft.ts';

const hidden = 768;
const heads = 12;
const headSize = hidden / heads;

function attention(
  draft: Draft,
  input: string,
  { split, merged }: { split: string; merged: string },
): string {
  const headsOf = (value: string, perm: readonly number[]): string =>
    draft.node('Transpose', [draft.node('Reshape', [value, split])], { perm });
  const query = headsOf(draft.dense(input, hidden, hidden), [0, 2, 1, 3]);
  const key = headsOf(draft.dense(input, hidden, hidden), [0, 2, 3, 1]);
  const value = headsOf(draft.dense(input, hidden, hidden), [0, 2, 1, 3]);
  const scores = draft.node('Div', [draft.node('MatMul', [query, key]), 'root']);
  const weights = draft.node('Softmax', [scores], { axis: -1 });
  const context = draft.node('Transpose', [draft.node('MatMul', [weights, value])], { perm: [0, 2, 1, 3] });
  return draft.dense(draft.node('Reshape', [context, merged]), hidden, hidden);
}

/** x · (1 + erf(x / √2)) / 2, as PyTorch exports it. */
function gelu(draft: Draft, value: string): string {
  const erf = draft.node('Erf', [draft.node('Div', [value, 'sqrt2'])]);
  return draft.node('Mul', [draft.node('Mul', [value, draft.node('Add', [erf, 'one'])]), 'half']);
}

/**
 * The shape of layers of BERT base (Devlin et al., 2018) over hidden states of a sequence: 7.09 million parameters a
 * layer. There are no embeddings.
 */
export function bert({ layers = 2, sequence = 128, seed = 3 } = {}): Model {
  const draft = new Draft(seed);
  const shapes = {
    split: draft.int64s('split', [1, -1, heads, headSize]),
    merged: draft.int64s('merged', [1, -1, hidden]),
  };
  draft.filled('root', [], Math.sqrt(headSize));
  draft.filled('sqrt2', [], Math.SQRT2);
  draft.filled('one', [], 1);
  draft.filled('half', [], 0.5);
  let value = 'input';
  for (let layer = 0; layer < layers; layer += 1) {
    const norm = (which: string, input: string): string =>
      draft.node('LayerNormalization', [
        input,
        draft.filled(`${which}_${layer}_scale`, [hidden], 1),
        draft.filled(`${which}_${layer}_bias`, [hidden], 0),
      ]);
    value = norm('attention_norm', draft.node('Add', [value, attention(draft, value, shapes)]));
    const wide = gelu(draft, draft.dense(value, hidden, 4 * hidden));
    value = norm('output_norm', draft.node('Add', [value, draft.dense(wide, 4 * hidden, hidden)]));
  }
  return draft.finish([1, sequence, hidden], value, [1, sequence, hidden]);
}
