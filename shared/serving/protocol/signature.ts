import type { ServedVersion } from '../../data/models/serving.ts';
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
}

type Tensor = ServedVersion['inputs'][number];

/** Return the tensors of a version. Outputs that are sequences or maps are left out, as ONNX Runtime does. */
export const signatureOf = ({
  inputs,
  defaulted_inputs,
  outputs,
}: Pick<ServedVersion, 'inputs' | 'defaulted_inputs' | 'outputs'>): ModelSignature => ({
  inputs: inputs.flatMap(tensorSignature),
  defaulted: defaulted_inputs,
  outputs: outputs.flatMap(tensorSignature),
});

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
