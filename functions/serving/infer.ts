import { ServiceError } from '../../shared/core/service-error.ts';
import { recordCrash } from '../../shared/data/models/serving-crash.ts';
import { servingBytes } from '../../shared/data/models/serving-memory.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { readInferRequest } from '../../shared/serving/protocol/infer-request.ts';
import { writeInferResponse } from '../../shared/serving/protocol/infer-response.ts';
import { type Medium, signatureOf } from '../../shared/serving/protocol/signature.ts';
import { RefusedByRuntimeError, SessionEndedError } from '../../shared/serving/sessions/session-errors.ts';
import { writePlainAnswer } from '../../shared/serving/texts/plain-answer.ts';
import { type Asked, findServed, requireInService, type Served } from './find-served.ts';
import { readLabels } from './read-labels.ts';
import type { ServingContext } from './serving-needs.ts';
import { sessionsOf, warmOnce } from './sessions.ts';
import { usageOf } from './usage.ts';

/**
 * Run a version of a served model.
 * @throws ServiceError `bad-request` that names all faults of the request
 * @throws ServiceError `conflict` for a version that was taken out, or that ended its process
 */
export async function infer(asked: Asked, bytes: Uint8Array, context: ServingContext): Promise<Reply<never>> {
  const started = performance.now();
  const usage = usageOf(context);
  let isCold = false;
  let isError = true;
  const served = await findServed(asked, context);
  try {
    requireInService(served);
    const answer = await run(served, bytes, context, () => {
      isCold = true;
    });
    isError = false;
    return answer;
  } finally {
    const milliseconds = performance.now() - started;
    await usage.note(served.version, { milliseconds, isCold, isError }, context);
  }
}

async function run(
  served: Served,
  bytes: Uint8Array,
  context: ServingContext,
  onCold: () => void,
): Promise<Reply<never>> {
  const { serving, version } = served;
  const { header, objects, settings } = context;
  const message = {
    bytes,
    headerLength: header('inference-header-content-length'),
    encoding: header('content-encoding'),
  };
  const request = await readInferRequest(message, signatureOf(version), serving.max_batch);
  const sessions = sessionsOf(settings);
  warmOnce(context);
  const { inputs, outputs: requested, id, medium, isPlain } = request;
  const hasClasses = requested.some(({ classification }) => classification !== undefined);
  const labels =
    hasClasses && version.labels !== null ? await readLabels(objects, version.labels) : undefined;
  try {
    const { outputs: tensors, isCold } = await sessions.run(objects, {
      version,
      memoryBytes: servingBytes(serving, version),
      isWarm: serving.warm,
      inputs,
      outputs: requested.map(({ name }) => name),
      medium,
    });
    if (isCold) onCold();
    const answered = { model_name: serving.model_name, model_version: version.name, id };
    if (isPlain) return Reply.content('application/json', writePlainAnswer({ ...answered, tensors }));
    const { json, binary } = writeInferResponse({ ...answered, tensors, requested, labels });
    if (binary.length === 0) return Reply.content('application/json', json);
    const head = Buffer.from(json);
    return Reply.passing('application/octet-stream', Buffer.concat([head, ...binary])).with({
      'Inference-Header-Content-Length': String(head.length),
    });
  } catch (error) {
    throw await serviceError(error, served, context, medium);
  }
}

const refusals = {
  tensors: 'ONNX Runtime cannot run the model on these inputs',
  texts: 'The model cannot answer texts',
  images: 'The model cannot answer these pictures',
} as const;

async function serviceError(
  error: unknown,
  { serving, version }: Served,
  context: ServingContext,
  medium: Medium | undefined,
): Promise<unknown> {
  if (error instanceof RefusedByRuntimeError) {
    return new ServiceError('bad-request', `${refusals[medium ?? 'tensors']}: ${error.message}`);
  }
  if (!(error instanceof SessionEndedError)) return error;
  const { model_name } = serving;
  context.log.warn('session-ended', { model_name, version: version.name, reason: error.message });
  await recordCrash(
    context.records,
    context.served,
    { model_name, name: version.name, digest: version.digest },
    {
      reason: error.message,
      now: context.now(),
    },
  );
  return new ServiceError(
    'conflict',
    `The version ${version.name} of ${model_name} did not answer this request. ${error.message}. Other requests are not affected; after three such ends within an hour the version is taken out.`,
  );
}
