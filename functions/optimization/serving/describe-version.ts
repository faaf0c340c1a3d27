import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import {
  type Compression,
  compressionKey,
  parseCompression,
} from '../../../shared/data/models/compression.ts';
import type { ReadyModel } from '../../../shared/data/models/model.ts';
import {
  isOwnFile,
  type ModelFile,
  modelDigest,
  modelFileNames,
} from '../../../shared/data/models/model-file.ts';
import {
  isPreprocessing,
  type mainPreprocessing,
  type PreprocessingName,
} from '../../../shared/data/models/preprocessing-names.ts';
import { originalVersion, type ServedVersion } from '../../../shared/data/models/serving.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { inspectModel } from '../../../shared/onnx/model/inspect/inspect-model.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import { objectSource } from '../../../shared/onnx-models/object-source.ts';
import { readImageSettings } from '../../../shared/serving/images/read-image-settings.ts';
import { readTextSettings } from '../../../shared/serving/texts/read-text-settings.ts';

/** Whether a name is that of a version, and not of an alias. */
export const isVersionName = (name: string): boolean => name === originalVersion || isStrategy(name);

const isStrategy = (name: string): boolean => Ulid.safeParse(name).success;

interface Sources {
  records: TableReader<'records'>;
  objects: Pick<ObjectReader, 'read'>;
  now(): Date;
}

/**
 * Describe a version of a model: the model itself, or the result of one of its strategies.
 * @throws ServiceError `not-found`, or `conflict` if the strategy has no result or is of another model
 */
export async function describeVersion(
  model: ReadyModel,
  name: string,
  { records, objects, now }: Sources,
): Promise<ServedVersion> {
  const { model_id, model_name, files, summary } = model;
  const labels = files.find(({ role }) => role === 'labels');
  const common = { model_id, name, labels: labels ?? null, created_at: now().toISOString() };
  const preprocessing = files.filter(({ role }) => role === 'preprocessing');
  if (!isStrategy(name)) {
    const own = files.filter(isOwnFile);
    const { digest } = model;
    const bytes = own.reduce((sum, { size }) => sum + size, 0);
    const { inputs, defaulted_inputs, outputs } = summary;
    const tensors = { inputs, defaulted_inputs, outputs };
    const media = await mediaOf(objects, preprocessing, tensors);
    return { ...common, source: 'model', strategy_id: null, digest, bytes, files: own, ...tensors, ...media };
  }
  const { kind, status, result, ...strategy } = await requireStrategy(records, name);
  if (strategy.model_id !== model_id) {
    const detail = `The strategy ${name} is one of ${strategy.model_name}, not of this ${model_name}.`;
    throw new ServiceError('conflict', detail);
  }
  const onnx = result.find((file) => file.name === modelFileNames.model);
  if (status !== 'SUCCEEDED' || onnx === undefined) {
    const detail = `The strategy ${name} is ${status}. Only the result of one that has succeeded can be served.`;
    throw new ServiceError('conflict', detail);
  }
  const { inputs, defaulted_inputs, outputs } = await inspected(objects, onnx.object, onnx.size);
  return {
    ...common,
    source: kind,
    strategy_id: name,
    digest: modelDigest(
      result.map((file) => ({ ...file, role: file === onnx ? 'model' : 'data', verified: true })),
    ),
    bytes: [...result, ...preprocessing].reduce((sum, { size }) => sum + size, 0),
    files: [...result, ...preprocessing],
    inputs,
    defaulted_inputs,
    outputs,
    ...(await mediaOf(objects, preprocessing, { inputs, outputs })),
  };
}

/** Read how a version answers texts and pictures. A model without a tokenizer or an image processor does not. */
async function mediaOf(
  objects: Pick<ObjectReader, 'read'>,
  files: readonly ModelFile[],
  tensors: Pick<ServedVersion, 'inputs' | 'outputs'>,
): Promise<Pick<ServedVersion, 'texts' | 'texts_fault' | 'images' | 'images_fault'>> {
  const contents = new Map<PreprocessingName, string>();
  for (const { name, object } of files) {
    if (!isPreprocessing(name) || name === 'tokenizer.json') continue;
    const source = await objects.read(object);
    if (source !== undefined) contents.set(name, (await buffer(source)).toString('utf8'));
  }
  const none = { settings: null, fault: null };
  const has = (main: (typeof mainPreprocessing)[number]) => files.some(({ name }) => name === main);
  const texts = has('tokenizer.json') ? readTextSettings(contents, tensors) : none;
  const images = has('preprocessor_config.json') ? readImageSettings(contents, tensors) : none;
  return {
    texts: texts.settings,
    texts_fault: texts.fault,
    images: images.settings,
    images_fault: images.fault,
  };
}

/** Find a strategy of either kind. */
async function requireStrategy(records: TableReader<'records'>, strategy_id: string): Promise<Compression> {
  const kinds: readonly OptimizationKind[] = ['prune', 'quantize'];
  const found = await records.batchGet(kinds.map((kind) => compressionKey(kind, strategy_id)));
  const item = found.find((one) => one !== undefined);
  if (item === undefined) throw notFound('strategy', strategy_id);
  return parseCompression(item);
}

async function inspected(objects: Pick<ObjectReader, 'read'>, object: string, size: number) {
  try {
    return await inspectModel(objectSource(objects, object, size));
  } catch (error) {
    if (error instanceof ModelError)
      throw new ServiceError('conflict', `The result cannot be read: ${error.message}`);
    throw error;
  }
}
