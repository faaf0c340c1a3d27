import type { QuantizeStrategy } from '../../../../shared/onnx/strategies/quantize-strategies.ts';

/** Methods that the reference has, too. */
export type Method = Exclude<QuantizeStrategy, 'float16'>;
export const methods: readonly Method[] = [
  'dynamic',
  'static_minmax',
  'static_percentile',
  'static_entropy',
  'weight_only',
];

/** A model that both quantizers get. */
export interface Subject {
  name: string;
  /** Path of the model as it was made. */
  model: string;
  /** Path of an npz file with labels; null for random weights, which decide speed and size only. */
  set: string | null;
  /** Whether it has a MatMul of constant weight, which is all that the reference quantizes to 4 bits. */
  hasMatMul: boolean;
}

/** Architectures of random weights. */
export const shapeNames = ['mobilenet-v2', 'resnet18', 'bert'] as const;

/** Trained models, of those that the exporters here could make; see `exporters/run.sh`. */
export const trainedNames = ['sklearn-mlp', 'keras-residual', 'torchscript-transformer'] as const;

/** Samples that calibrate: by default, and where memory is what matters. */
export const fewSamples = 8;
export const manySamples = 128;

export interface Case {
  subject: Subject;
  method: Method;
  samples: number;
}

/** Whether histograms of all samples would fill the memory if they were not kept as such. */
export const isMemoryCase = ({ subject, samples }: Case): boolean =>
  subject.set === null && samples >= manySamples;

/** Every method on every model; with 128 samples on trained models, whose activations are small, and for memory. */
export function casesOf(subjects: readonly Subject[]): Case[] {
  return subjects.flatMap((subject) => {
    const samples = subject.set === null ? fewSamples : manySamples;
    const usual = methods
      .filter((method) => method !== 'weight_only' || subject.hasMatMul)
      .map((method) => ({ subject, method, samples }));
    if (subject.name !== 'mobilenet-v2') return usual;
    const many = { subject, samples: manySamples };
    return [...usual, { ...many, method: 'static_percentile' }, { ...many, method: 'static_entropy' }];
  });
}

/** The request to our engine: int8 throughout, without the operators that the reference leaves alone. */
export const requestOf = (method: Method) => ({
  operation: 'quantize',
  strategy: method,
  ...(method === 'dynamic' && { per_channel: false }),
  ...(method === 'weight_only'
    ? { precision: 4, quant_type: 'int4', exclude: ['Gemm', 'Gather'] }
    : { precision: 8, quant_type: 'int8' }),
});
