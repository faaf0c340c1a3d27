import type { ServedVersion } from '../../data/models/serving.ts';
import type { TextSettings } from '../../data/models/text-settings.ts';
import { type Datatype, datatypeOf } from './datatypes.ts';

/** An input or output in the words of the protocol. */
export interface TensorSignature {
  name: string;
  datatype: Datatype;
  /** -1 for a free dimension. Null if the model does not state its shape. */
  shape: readonly number[] | null;
}

export interface ModelSignature {
  inputs: readonly TensorSignature[];
  /** Inputs that have a default in the model. */
  defaulted?: readonly string[];
  outputs: readonly TensorSignature[];
  /** Inputs and outputs in place of these for a model that is asked by texts. */
  texts?: { inputs: readonly TensorSignature[]; outputs: readonly TensorSignature[] } | undefined;
  /** Why it cannot be asked by texts. */
  textsFault?: string;
}

type Tensor = ServedVersion['inputs'][number];

/** Return the tensors of a version. Outputs that are sequences or maps are left out, as ONNX Runtime does. */
export const signatureOf = ({
  inputs,
  defaulted_inputs,
  outputs,
  texts,
  texts_fault,
}: Pick<
  ServedVersion,
  'inputs' | 'defaulted_inputs' | 'outputs' | 'texts' | 'texts_fault'
>): ModelSignature => ({
  inputs: inputs.flatMap(tensorSignature),
  defaulted: defaulted_inputs,
  outputs: outputs.flatMap(tensorSignature),
  texts: texts === null ? undefined : textSignature(texts),
  textsFault: texts_fault ?? 'it has no tokenizer',
});

/** Names of the inputs of texts. The second one is for models of pairs. */
export const textInputs = ['text', 'text_pair'] as const;

function textSignature({ task, width }: TextSettings): NonNullable<ModelSignature['texts']> {
  const strings = (name: string, ...shape: number[]) => ({ name, datatype: 'BYTES' as const, shape });
  const numbers = (name: string, ...shape: number[]) => ({ name, datatype: 'FP32' as const, shape });
  const outputs = {
    embedding: [numbers('embedding', -1, width ?? -1)],
    classification: [strings('label', -1), numbers('scores', -1, width ?? -1)],
    tokens: [strings('token', -1, -1), strings('label', -1, -1), numbers('score', -1, -1)],
  };
  return { inputs: textInputs.map((name) => strings(name, -1)), outputs: outputs[task] };
}

function tensorSignature({ name, type, shape }: Tensor): TensorSignature[] {
  const datatype = datatypeOf(type);
  if (datatype === undefined) return [];
  const dims = shape?.map((dim) => (typeof dim === 'number' ? dim : -1)) ?? null;
  return [{ name, datatype, shape: dims }];
}

/** Name the tensors of a model that the protocol cannot carry. Without its inputs a model cannot be served. */
export function unservable({ inputs, outputs }: Pick<ServedVersion, 'inputs' | 'outputs'>): string[] {
  const lacking = inputs
    .filter(({ type }) => datatypeOf(type) === undefined)
    .map(({ name, type }) => `the input ${JSON.stringify(name)} is of type ${type}`);
  const hasOutput = outputs.some(({ type }) => datatypeOf(type) !== undefined);
  return hasOutput ? lacking : [...lacking, 'none of its outputs is a tensor'];
}
