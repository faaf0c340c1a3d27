import type { AnswerOf, Called, RequestOf, Route, RowOf } from '../../../../shared/client/route.ts';
import type { Sets } from '../../../../shared/onnx-models/sets-beside.ts';
import type { endpoint as cancelPrune } from '../../../optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import type { endpoint as createPrune } from '../../../optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import type { endpoint as deletePrune } from '../../../optimization/compressions/prune/delete-prune-strategy.endpoint.ts';
import type { endpoint as downloadPruned } from '../../../optimization/compressions/prune/download-pruned-model.endpoint.ts';
import type { endpoint as pruneMethods } from '../../../optimization/compressions/prune/list-prune-methods.endpoint.ts';
import type { endpoint as listPrunings } from '../../../optimization/compressions/prune/list-prune-strategies.endpoint.ts';
import type { endpoint as readPruneLogs } from '../../../optimization/compressions/prune/read-prune-logs.endpoint.ts';
import type { endpoint as readPruning } from '../../../optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import type { endpoint as createQuantize } from '../../../optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import type { endpoint as listQuantizations } from '../../../optimization/compressions/quantize/list-quantize-strategies.endpoint.ts';
import type { endpoint as readQuantization } from '../../../optimization/compressions/quantize/read-quantize-strategy.endpoint.ts';
import type { endpoint as createExport } from '../../../optimization/exports/create-export.endpoint.ts';
import type { endpoint as createModel } from '../../../optimization/models/create-model.endpoint.ts';
import type { endpoint as deleteModel } from '../../../optimization/models/delete-model.endpoint.ts';
import type { endpoint as listModels } from '../../../optimization/models/list-models.endpoint.ts';
import type { endpoint as readModel } from '../../../optimization/models/read-model.endpoint.ts';
import { all, call, open, text } from './calls.ts';

export type Model = RowOf<typeof listModels>;
export type ModelDetails = AnswerOf<typeof readModel>;
export type Operation = 'prune' | 'quantize';
type Pruning = AnswerOf<typeof readPruning>;
type Quantization = AnswerOf<typeof readQuantization>;
export type Receipt = NonNullable<Pruning['receipt']>;
export type Methods = AnswerOf<typeof pruneMethods>;

/** Fields that prunings and quantizations share. */
export type Compression = Pick<
  Pruning,
  | 'strategy_id'
  | 'model_name'
  | 'model_digest'
  | 'status'
  | 'status_reason'
  | 'progress'
  | 'created_at'
  | 'duration'
  | 'cost'
  | 'result'
  | 'owner'
  | 'result_name'
  | 'registered'
> & { operation: Operation; strategy: string; label: string };
export type CompressionDetails = Compression & { receipt: Receipt | null };

export const loadModels = (): Promise<Model[]> => all<typeof listModels>('GET /optimization/models');
export const loadModel = (model_name: string): Promise<ModelDetails> =>
  call<typeof readModel>('GET /optimization/models/{model_name}', { path: { model_name } });
/** Add data sets from an experiment's artifacts to a model. They replace the model's existing sets. */
export const addSets = (model_name: string, experiment_id: string, sets: Sets) =>
  call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name },
    query: { experiment_id, ...sets },
  });
export const removeModel = (model_name: string) =>
  call<typeof deleteModel>('DELETE /optimization/models/{model_name}', { path: { model_name } });

type Recorded = RowOf<typeof listPrunings> | RowOf<typeof listQuantizations> | Pruning | Quantization;

const labelOf = (one: Recorded): string => {
  if ('compression' in one) return `${one.strategy} ÷${one.compression}`;
  const type = one.quant_type === one.strategy ? '' : ` ${one.quant_type}`;
  const hasChoice = /^(weight_only|awq|gptq)/.test(one.strategy);
  return `${one.strategy}${type}${hasChoice ? `, ${one.precision} bit` : ''}`;
};

const shown = (operation: Operation, one: Recorded): Compression => ({
  ...one,
  operation,
  label: labelOf(one),
});

/** Load all compressions of all models. */
export async function loadCompressions(): Promise<Compression[]> {
  const [prunings, quantizations] = await Promise.all([
    all<typeof listPrunings>('GET /optimization/prune/strategies'),
    all<typeof listQuantizations>('GET /optimization/quantize/strategies'),
  ]);
  return [
    ...prunings.map((pruning) => shown('prune', pruning)),
    ...quantizations.map((quantization) => shown('quantize', quantization)),
  ];
}

export async function loadCompression({
  operation,
  strategy_id,
}: Pick<Compression, 'operation' | 'strategy_id'>): Promise<CompressionDetails> {
  const path = { strategy_id };
  if (operation === 'prune') {
    const found = await call<typeof readPruning>('GET /optimization/prune/strategies/{strategy_id}', {
      path,
    });
    return { ...shown(operation, found), receipt: found.receipt };
  }
  const found = await call<typeof readQuantization>('GET /optimization/quantize/strategies/{strategy_id}', {
    path,
  });
  return { ...shown(operation, found), receipt: found.receipt };
}

/** Return the route of an operation. Both operations take the same inputs. */
const routeOf = <E extends Called>(route: Route<E>, operation: Operation): Route<E> =>
  route.replace('/prune', `/${operation}`) as Route<E>;

export const loadMethods = (operation: Operation): Promise<Methods> =>
  call<typeof pruneMethods>(routeOf<typeof pruneMethods>('GET /optimization/prune/methods', operation));

export const cancelCompression = ({ operation, strategy_id }: Compression) =>
  call<typeof cancelPrune>(
    routeOf<typeof cancelPrune>('POST /optimization/prune/strategies/{strategy_id}/cancel', operation),
    {
      path: { strategy_id },
    },
  );
export const removeCompression = ({ operation, strategy_id }: Compression) =>
  call<typeof deletePrune>(
    routeOf<typeof deletePrune>('DELETE /optimization/prune/strategies/{strategy_id}', operation),
    {
      path: { strategy_id },
    },
  );
/** Open a file of the result. The response's `url` expires after some minutes. */
export const openResult = ({ operation, strategy_id }: Compression, file: string): Promise<Response> =>
  open<typeof downloadPruned>(
    routeOf<typeof downloadPruned>('GET /optimization/prune/strategies/{strategy_id}/model', operation),
    {
      path: { strategy_id },
      query: { file },
      headers: { Range: 'bytes=0-0' },
    },
  );

/** Load the newest lines of a compression's log. */
export const loadCompressionLog = ({ operation, strategy_id }: Compression): Promise<string> =>
  text<typeof readPruneLogs>(
    routeOf<typeof readPruneLogs>('GET /optimization/prune/strategies/{strategy_id}/logs', operation),
    'text/plain',
    { path: { strategy_id }, query: { tail: 1_000 } },
  );

/** Start a compression. The form follows the service's schemas, and the service checks the values. */
export const optimize = (
  operation: Operation,
  query: Readonly<Record<string, string>>,
): Promise<{ strategy_id: string }> =>
  operation === 'prune'
    ? call<typeof createPrune>('POST /optimization/prune', { query: query as never })
    : call<typeof createQuantize>('POST /optimization/quantize', { query: query as never });

/** Export a model of the Hub, and compress it. @returns the experiment that exports */
export const exportModel = (body: RequestOf<typeof createExport>['body']) =>
  call<typeof createExport>('POST /optimization/exports', { body });
