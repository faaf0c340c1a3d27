import type { AnswerOf } from '../../../../shared/client/route.ts';
import { pictureValues, takesPictures } from '../../../../shared/serving/protocol/picture-values.ts';
import type { endpoint as deleteServing } from '../../../optimization/serving/delete-serving.endpoint.ts';
import type { endpoint as putServing } from '../../../optimization/serving/put-serving.endpoint.ts';
import type { endpoint as readServing } from '../../../optimization/serving/read-serving.endpoint.ts';
import { call } from '../api/calls.ts';
import type { Compression } from '../api/models.ts';
import { person, serviceUrl } from '../api/session.ts';

export type Serving = AnswerOf<typeof readServing>;

/** Input or output as the Open Inference Protocol describes it. */
export interface ServedTensor {
  name: string;
  datatype: string;
  /** -1 for a free dimension. */
  shape: number[];
}

export interface ServedMetadata {
  inputs: ServedTensor[];
  outputs: ServedTensor[];
  parameters: { version: string; strategy: string | null; receipt: string | null };
}

export type ServedCompression = Pick<Compression, 'operation' | 'strategy_id'>;

/** Return the compression whose result answers. */
export function compressionOf({
  parameters: { strategy, receipt },
}: Pick<ServedMetadata, 'parameters'>): ServedCompression | undefined {
  if (strategy === null || receipt === null) return undefined;
  return { operation: receipt.includes('/prune/') ? 'prune' : 'quantize', strategy_id: strategy };
}

const route = '/optimization/models/{model_name}/serving' as const;

export const loadServing = (model_name: string): Promise<Serving> =>
  call<typeof readServing>(`GET ${route}`, { path: { model_name } });
export const turnOn = (model_name: string) =>
  call<typeof putServing>(`PUT ${route}`, { path: { model_name } });
export const answerWith = (model_name: string, version: string) =>
  call<typeof putServing>(`PUT ${route}`, { path: { model_name }, query: { version } });
export const turnOff = (model_name: string) =>
  call<typeof deleteServing>(`DELETE ${route}`, { path: { model_name } });

/** Address at which a served model answers. */
export const addressOf = (model_name: string): string =>
  `${serviceUrl}/v2/models/${encodeURIComponent(model_name)}`;

/** Ask by the protocol, as the signed-in user. @throws Error with the message of the protocol's error */
async function ask(url: string, init: RequestInit): Promise<unknown> {
  const headers = {
    ...(person.value && { Authorization: `Session ${person.value.page_key}` }),
    'X-Requested-With': 'mps',
    'Content-Type': 'application/json',
  };
  const response = await fetch(url, { ...init, headers });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const isNamed = typeof answer === 'object' && answer !== null && 'error' in answer;
  throw new Error(isNamed ? String(answer.error) : `HTTP status ${response.status}`);
}

export const loadMetadata = async (model_name: string): Promise<ServedMetadata> =>
  (await ask(addressOf(model_name), {})) as ServedMetadata;

/** Run the model with a request as JSON. */
export const infer = (model_name: string, body: string): Promise<unknown> =>
  ask(`${addressOf(model_name)}/infer`, { method: 'POST', body });

const maxElements = 200_000;

/** A request with zeros for each input; free dimensions are 1. */
export const exampleRequest = ({ inputs }: Pick<ServedMetadata, 'inputs'>): object => ({
  inputs: inputs.map(({ name, datatype, shape }) => {
    const dims = shape.map((dim) => (dim < 0 ? 1 : dim));
    const count = Math.min(
      maxElements,
      dims.reduce((product, dim) => product * dim, 1),
    );
    const value = datatype === 'BYTES' ? '' : datatype === 'BOOL' ? false : 0;
    return { name, datatype, shape: dims, data: Array.from({ length: count }, () => value) };
  }),
});

/** Find the input that takes pictures. */
export const pictureInput = ({ inputs }: Pick<ServedMetadata, 'inputs'>): ServedTensor | undefined =>
  inputs.find(takesPictures);

/** Read a picture as the values of an input. */
export async function readPicture(
  file: Blob,
  input: ServedTensor,
): Promise<{ shape: number[]; data: number[] } | undefined> {
  const bitmap = await createImageBitmap(file);
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (context === null) throw new Error('This browser cannot read pictures.');
  context.drawImage(bitmap, 0, 0);
  return pictureValues(context.getImageData(0, 0, width, height), input);
}
