import type { AnswerOf } from '../../../../shared/client/route.ts';
import type { endpoint as deleteServing } from '../../../optimization/serving/delete-serving.endpoint.ts';
import type { endpoint as putServing } from '../../../optimization/serving/put-serving.endpoint.ts';
import type { endpoint as readServing } from '../../../optimization/serving/read-serving.endpoint.ts';
import { call, sendJson } from './calls.ts';
import { serviceUrl } from './session.ts';

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
  parameters: {
    version: string;
    strategy: string | null;
    receipt: string | null;
    /** Set for a model that takes pictures as they are. */
    images?: object | null;
  };
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
export const addressOf = (model_name: string): string => `${serviceUrl}/${pathOf(model_name)}`;

const pathOf = (model_name: string): string => `v2/models/${encodeURIComponent(model_name)}`;

/** Ask by the protocol, as the signed-in user. @throws Error with the message of the protocol's error */
async function ask(path: string, init?: RequestInit): Promise<unknown> {
  const response = await sendJson(path, init);
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const isNamed = typeof answer === 'object' && answer !== null && 'error' in answer;
  throw new Error(isNamed ? String(answer.error) : `HTTP status ${response.status}`);
}

export const loadMetadata = async (model_name: string): Promise<ServedMetadata> =>
  (await ask(pathOf(model_name))) as ServedMetadata;

/** Run the model with a request as JSON. */
export const infer = (model_name: string, body: string): Promise<unknown> =>
  ask(`${pathOf(model_name)}/infer`, { method: 'POST', body });
