import type { ImageSettings } from '../../data/models/image-settings.ts';
import type { ServedVersion } from '../../data/models/serving.ts';
import type { TextSettings } from '../../data/models/text-settings.ts';
import { type Datatype, datatypeOf } from './datatypes.ts';

/** An input or output in the words of the protocol. */
export interface TensorSignature {
  name: string;
  datatype: Datatype;
  /** -1 for a free dimension. Null if the model does not state its shape. */
  shape: readonly number[] | null;
  /** Whether the elements of BYTES are files, and not texts. */
  holdsFiles?: boolean;
}

/** What a model may be asked by in place of its inputs. */
export type Medium = 'texts' | 'images';

export interface ModelSignature {
  inputs: readonly TensorSignature[];
  /** Inputs that have a default in the model. */
  defaulted?: readonly string[];
  outputs: readonly TensorSignature[];
  /** Inputs and outputs in place of these for a model that is asked by texts, or why it is not. Likewise by pictures. */
  texts?: MediumSignature;
  images?: MediumSignature;
}

interface MediumSignature {
  form: { inputs: readonly TensorSignature[]; outputs: readonly TensorSignature[] } | undefined;
  reason: string;
}

type Tensor = ServedVersion['inputs'][number];

/** Return the tensors of a version. Outputs that are sequences or maps are left out, as ONNX Runtime does. */
export const signatureOf = (version: VersionSignature): ModelSignature => {
  const { inputs, defaulted_inputs, outputs, texts, texts_fault, images, images_fault } = version;
  return {
    inputs: inputs.flatMap(tensorSignature),
    defaulted: defaulted_inputs,
    outputs: outputs.flatMap(tensorSignature),
    texts: {
      form: texts === null ? undefined : textSignature(texts),
      reason: texts_fault ?? 'it has no tokenizer',
    },
    images: {
      form: images === null ? undefined : imageSignature(images),
      reason: images_fault ?? 'it has no preprocessor_config.json',
    },
  };
};

type VersionSignature = Pick<
  ServedVersion,
  'inputs' | 'defaulted_inputs' | 'outputs' | 'texts' | 'texts_fault' | 'images' | 'images_fault'
>;

/** Names of the inputs of texts and pictures. The second one of texts is for models of pairs. */
export const mediumInputs = { texts: ['text', 'text_pair'], images: ['image'] } as const satisfies Record<
  Medium,
  readonly string[]
>;

const strings = (name: string, ...shape: number[]) => ({ name, datatype: 'BYTES' as const, shape });
const numbers = (name: string, ...shape: number[]) => ({ name, datatype: 'FP32' as const, shape });

function textSignature({ task, width }: TextSettings) {
  const outputs =
    task === 'tokens'
      ? [strings('token', -1, -1), strings('label', -1, -1), numbers('score', -1, -1)]
      : answersOf(task, width);
  return { inputs: mediumInputs.texts.map((name) => strings(name, -1)), outputs };
}

const imageSignature = ({ task, width }: ImageSettings) => ({
  inputs: mediumInputs.images.map((name) => ({ ...strings(name, -1), holdsFiles: true })),
  outputs: answersOf(task, width),
});

const answersOf = (task: ImageSettings['task'], width: number | null): TensorSignature[] =>
  task === 'embedding'
    ? [numbers('embedding', -1, width ?? -1)]
    : [strings('label', -1), numbers('scores', -1, width ?? -1)];

function tensorSignature({ name, type, shape }: Tensor): TensorSignature[] {
  const datatype = datatypeOf(type);
  if (datatype === undefined) return [];
  const dims = shape?.map((dim) => (typeof dim === 'number' ? dim : -1)) ?? null;
  return [{ name, datatype, shape: dims }];
}

/** Name the tensors of a model that the protocol cannot carry: a model is served with all inputs and an output. */
export function unservable({ inputs, outputs }: Pick<ServedVersion, 'inputs' | 'outputs'>): string[] {
  const lacking = (kind: string, tensors: readonly Tensor[]): string[] =>
    tensors
      .filter(({ type }) => datatypeOf(type) === undefined)
      .map(({ name, type }) => `the ${kind} ${JSON.stringify(name)} is of type ${type}`);
  const hasOutput = outputs.some(({ type }) => datatypeOf(type) !== undefined);
  return [...lacking('input', inputs), ...(hasOutput ? [] : lacking('output', outputs))];
}
