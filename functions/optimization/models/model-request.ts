import * as z from 'zod';
import { FileId, Sha256, Ulid } from '../../../shared/core/formats.ts';
import { badRequest, type ParameterFault } from '../../../shared/core/service-error.ts';
import { StoredPath } from '../../../shared/data/experiments/tracking-rules.ts';
import {
  DataFileName,
  type ModelFileRole,
  modelFileNames,
  modelFileRoles,
} from '../../../shared/data/models/model-file.ts';
import {
  isPreprocessing,
  largestPreprocessing,
  preprocessingNames,
} from '../../../shared/data/models/preprocessing-names.ts';
import { uploadMaxBytes } from '../../../shared/data/projects/upload.ts';
import { flag, integer } from '../../../shared/http/definition/parameters.ts';
import { maxShapesLength, parseShapes } from '../../../shared/onnx/model/inspect/match-shapes.ts';
import type { ModelSummary } from '../../../shared/onnx/model/inspect/model-summary.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import { type StoredShapes, shapeFaults } from '../../../shared/onnx-models/completeness.ts';

/** Largest external data file in bytes. It fits on a job's disk with room to work. */
export const maxDataBytes = 100_000_000_000;

const ArtifactPath = StoredPath.min(1, 'is blank');

/** Shapes of a model's inputs or outputs, in the grammar of `shared/onnx/model/inspect`. */
const Shapes = z.string().superRefine(checkShapes).meta({ maxLength: maxShapesLength });

function checkShapes(text: string, context: z.RefinementCtx<string>): void {
  try {
    parseShapes(text);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    context.addIssue(error.message);
  }
}

const shapesOf = (tensors: string, example: string) =>
  Shapes.describe(
    `Shapes of the ${tensors} tensors, comma-separated, each after an optional name, such as ${example}.`,
  );

const inputs = shapesOf('input', '`image:1x3x224x224` or `[1,3,224,224]`, with `?` for a free dimension');

const outputs = shapesOf('output', '`1x1000` or `label:[?],scores:[?,10]`');

/** Optional shapes to store with a model. */
export const shapeParameters = { inputs: inputs.optional(), outputs: outputs.optional() };

/** Either a file to upload, or artifacts of an experiment to register. */
export const modelRequest = z.strictObject({
  file: z
    .enum(modelFileRoles, `must be one of ${modelFileRoles.join(', ')}`)
    .optional()
    .describe('Role of the file to upload, such as `calibration`. Default: `model`.'),
  name: DataFileName.optional().describe(
    'With `file=data`: name of the file in the model, such as `model.onnx.data`. With `file=preprocessing`: one of `tokenizer.json`, `tokenizer_config.json`, `preprocessor_config.json`, `config.json`, `modules.json`, `sentence_bert_config.json`, `config_sentence_transformers.json` and `1_Pooling/config.json`.',
  ),
  sha256: Sha256.optional().describe(
    'SHA-256 digest of the file to upload: 64 lower-case hexadecimal digits.',
  ),
  size: integer(1, maxDataBytes).optional().describe('Bytes of the file to upload, such as `48213`.'),
  multipart: flag
    .optional()
    .describe('Whether to upload in parts: `true` or `false`; above 5 GB always `true`.'),
  experiment_id: Ulid.optional().describe(
    'The experiment whose artifacts become the model, instead of an upload.',
  ),
  path: ArtifactPath.optional().describe(
    'With `experiment_id`: path of the artifact that is the ONNX file, such as `digits.onnx`. Without it, the request adds the given sets to the model.',
  ),
  calibration: ArtifactPath.optional().describe(
    'With `experiment_id`: path of the calibration samples, such as `digits-calibration.npz`.',
  ),
  evaluation: ArtifactPath.optional().describe(
    'With `experiment_id`: path of the evaluation samples, such as `digits-test.npz`.',
  ),
  ...shapeParameters,
});

/** Value in place of shapes that stands for the registered model's own shapes. It is not a valid shape. */
export const autoShapes = 'auto';

const shapesOrAuto = (shapes: typeof Shapes) =>
  z
    .string()
    .superRefine((text, context) => {
      if (text !== autoShapes) checkShapes(text, context);
    })
    .meta({ maxLength: maxShapesLength })
    .describe(`${shapes.description ?? ''} \`${autoShapes}\` takes those of the registered model.`);

/** Required shapes of the model. */
export const requiredShapes = { inputs: shapesOrAuto(inputs), outputs: shapesOrAuto(outputs) };

export interface UploadRequest {
  kind: 'upload';
  role: ModelFileRole;
  name: string;
  sha256: string;
  size: number;
  isMultipart: boolean;
}

export interface ArtifactRequest {
  kind: 'artifact';
  experiment_id: string;
  path: string;
  calibration: string | undefined;
  evaluation: string | undefined;
}

/** Artifacts that become sets of an existing model. */
export interface SetsRequest extends Pick<ArtifactRequest, 'experiment_id' | 'calibration' | 'evaluation'> {
  kind: 'sets';
}

type Query = z.output<typeof modelRequest>;

const uploadOnly = ['file', 'name', 'sha256', 'size', 'multipart'] as const;

const artifactOnly = ['path', 'calibration', 'evaluation'] as const;

/** Largest ONNX file in bytes: the limit of a protocol buffer. */
const maxOnnxBytes = 2 ** 31 - 1;

/** Largest file of labels in bytes. */
const maxLabelsBytes = 2 ** 20;

const largest: Readonly<Record<Exclude<ModelFileRole, 'preprocessing'>, number>> = {
  model: maxOnnxBytes,
  data: maxDataBytes,
  calibration: uploadMaxBytes,
  evaluation: uploadMaxBytes,
  labels: maxLabelsBytes,
};

/**
 * Parse the request from a query.
 * @throws ServiceError `invalid` that names all parameters that do not go together
 */
export function readModelRequest(query: Query): UploadRequest | ArtifactRequest | SetsRequest {
  const faults: ParameterFault[] = [];
  const fault = (name: string, message: string) => faults.push({ in: 'query', name, message });
  const { experiment_id, path, file: role = 'model', sha256, size, calibration, evaluation } = query;
  if (experiment_id !== undefined) {
    for (const name of uploadOnly)
      if (query[name] !== undefined)
        fault(name, 'cannot be combined with experiment_id: either upload a file, or register an artifact');
    const hasSets = calibration !== undefined || evaluation !== undefined;
    if (path === undefined && !hasSets)
      fault(
        'path',
        'is required with experiment_id: the path of the ONNX file; or give a calibration or evaluation set to add to the model',
      );
    if (faults.length > 0) throw badRequest(faults);
    if (path === undefined) return { kind: 'sets', experiment_id, calibration, evaluation };
    return { kind: 'artifact', experiment_id, path, calibration, evaluation };
  }
  for (const name of artifactOnly) {
    if (query[name] !== undefined) fault(name, 'is a path of an artifact and needs experiment_id');
  }
  const other = 'is required to upload a file; to register an artifact, give experiment_id and path';
  if (sha256 === undefined) fault('sha256', other);
  if (size === undefined) fault('size', other);
  const isNamed = role === 'data' || role === 'preprocessing';
  const name = isNamed ? query.name : modelFileNames[role];
  const known = role === 'preprocessing' && name !== undefined && isPreprocessing(name) ? name : undefined;
  if (name === undefined) fault('name', `is required with file=${role}: the name of the file in the model`);
  else if (role === 'preprocessing' && known === undefined)
    fault('name', `must be one of ${preprocessingNames.join(', ')} for preprocessing`);
  if (!isNamed && query.name !== undefined)
    fault('name', 'is allowed only with file=data and file=preprocessing');
  const most = role !== 'preprocessing' ? largest[role] : known && largestPreprocessing(known);
  if (size !== undefined && most !== undefined && size > most) {
    const hint =
      role === 'model' ? ': larger models keep their tensors in external data files (file=data)' : '';
    fault('size', `must be at most ${most} for ${known ?? role}${hint}`);
  }
  if (faults.length > 0 || sha256 === undefined || size === undefined || name === undefined) {
    throw badRequest(faults);
  }
  const isMultipart = query.multipart === true || size > uploadMaxBytes;
  return { kind: 'upload', role, name, sha256, size, isMultipart };
}

export const modelName = FileId.describe('Name of the model, such as `digits.onnx`.');

/** Path parameters of every operation on one model. */
export const modelPath = z.strictObject({ model_name: modelName });

/**
 * Throw a 400 problem for shapes that differ from the inspected model. The job checks whether a data set matches
 * them, because it reads the data.
 */
export function requireShapesOf(
  summary: Pick<ModelSummary, 'inputs' | 'outputs'>,
  storedShapes: StoredShapes,
): void {
  const faults = shapeFaults(storedShapes, summary);
  if (faults.length === 0) return;
  throw badRequest(faults.map(({ side, fault }) => ({ in: 'query', name: side, message: fault })));
}
