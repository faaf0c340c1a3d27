import { badRequest, ServiceError } from '../../shared/core/service-error.ts';
import { listServing } from '../../shared/data/models/serving.ts';
import { type ModelSignature, signatureOf } from '../../shared/serving/protocol/signature.ts';
import { type Asked, findServed, requireInService } from './find-served.ts';
import { mayAsk } from './require-access.ts';
import type { ServingContext } from './serving-needs.ts';

const platform = 'onnxruntime_onnx';

/** Model metadata of the protocol. */
export async function describeModel(asked: Asked, context: ServingContext) {
  const { serving, version } = await findServed(asked, context);
  const { inputs, outputs, texts, images } = signatureOf(version);
  const { strategy_id, source, digest, bytes } = version;
  return {
    name: serving.model_name,
    versions: Object.keys(serving.versions).sort(),
    platform,
    inputs: inputs.map(shown),
    outputs: outputs.map(shown),
    parameters: {
      version: version.name,
      sha256: digest,
      bytes,
      strategy: strategy_id,
      receipt: strategy_id === null ? null : `/optimization/${source}/strategies/${strategy_id}`,
      max_batch: serving.max_batch,
      texts: version.texts && {
        task: version.texts.task,
        max_tokens: version.texts.max_tokens,
        pooling: version.texts.pooling,
        normalize: version.texts.normalize,
        inputs: (texts?.form?.inputs ?? []).map(shown),
        outputs: (texts?.form?.outputs ?? []).map(shown),
      },
      texts_fault: version.texts_fault,
      images: version.images && {
        task: version.images.task,
        resize: version.images.resize,
        crop: version.images.crop,
        inputs: (images?.form?.inputs ?? []).map(shown),
        outputs: (images?.form?.outputs ?? []).map(shown),
      },
      images_fault: version.images_fault,
    },
  };
}

/** A shape that the model does not state counts as one free dimension. */
const shown = ({ name, datatype, shape }: ModelSignature['inputs'][number]) => ({
  name,
  datatype,
  shape: [...(shape ?? [-1])],
});

/** Model configuration as Triton's clients read it. */
export async function describeModelConfig(asked: Asked, context: ServingContext) {
  const { serving, version } = await findServed(asked, context);
  const { inputs, outputs } = signatureOf(version);
  const configured = ({ name, datatype, shape }: ModelSignature['inputs'][number]) => ({
    name,
    data_type: `TYPE_${datatype === 'BYTES' ? 'STRING' : datatype}`,
    dims: [...(shape ?? [-1])],
  });
  return {
    name: serving.model_name,
    platform,
    backend: 'onnxruntime',
    // Shapes include the batch, which Triton's clients take from 0.
    max_batch_size: 0,
    input: inputs.map(configured),
    output: outputs.map(configured),
  };
}

/** @throws ServiceError `conflict` if the version was taken out */
export async function requireAnswering(asked: Asked, context: ServingContext) {
  const served = await findServed(asked, context);
  requireInService(served);
  return { name: served.serving.model_name, version: served.version.name, ready: true };
}

/** Models in one index. */
const maxIndexed = 1000;

/**
 * All versions that the caller may ask.
 * @param body `{"ready": true}` leaves out those that were taken out
 */
export async function indexModels(body: Uint8Array | undefined, context: ServingContext) {
  const { records, caller } = context;
  if (caller === undefined) throw new ServiceError('unauthenticated', 'Sign in to list the served models.');
  if (caller.account_type === 'guest')
    throw new ServiceError('forbidden', 'This requires an account of type viewer; yours is guest.');
  const onlyReady = isOnlyReady(body);
  const { items } = await listServing(records, { limit: maxIndexed, after: undefined });
  const allowed = await Promise.all(items.map((serving) => mayAsk(serving, context)));
  return items
    .filter((_, index) => allowed[index])
    .flatMap(({ model_name, versions }) =>
      Object.entries(versions).map(([version, { withdrawn }]) => ({
        name: model_name,
        version,
        state: withdrawn === null ? 'READY' : 'UNAVAILABLE',
        reason: withdrawn ?? '',
      })),
    )
    .filter(({ state }) => !onlyReady || state === 'READY');
}

function isOnlyReady(body: Uint8Array | undefined): boolean {
  if (body === undefined || body.length === 0) return false;
  try {
    const sent: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof sent === 'object' && sent !== null && 'ready' in sent && sent.ready === true;
  } catch {
    throw badRequest([{ in: 'body', name: 'body', message: 'is not valid JSON' }]);
  }
}
