import { partsOf } from '../../../shared/aws/multipart.ts';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import type { Model } from '../../../shared/data/models/model.ts';
import {
  isSameFile,
  type ModelFile,
  modelDigest,
  type PendingFile,
} from '../../../shared/data/models/model-file.ts';
import { inspectModel } from '../../../shared/onnx/model/inspect/inspect-model.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import { lackingData, type StoredShapes } from '../../../shared/onnx-models/completeness.ts';
import { objectSource } from '../../../shared/onnx-models/object-source.ts';
import { requireArchive } from '../../../shared/onnx-models/require-archive.ts';
import { requireShapesOf } from './model-request.ts';
import { requireJson } from './require-json.ts';
import { requireLabels } from './require-labels.ts';

type Arrival = { file: ModelFile } | { lacks: string };

/** Maximum number of part numbers in a message. The message only counts the others. */
const maxNamed = 10;

function missingParts(name: string, numbers: readonly number[], of: number): string {
  const more = numbers.length > maxNamed ? ', …' : '';
  return `${numbers.length} of ${of} parts of ${name} (${numbers.slice(0, maxNamed).join(', ')}${more})`;
}

/** Check that a file has arrived as announced. Join its parts if it was uploaded in parts. */
async function arrivalOf(objects: ObjectWriter, pending: PendingFile): Promise<Arrival> {
  const { parts, ...described } = pending;
  const { object, name, size, sha256 } = described;
  if (parts !== null) {
    const wanted = partsOf(size, parts.part_bytes);
    const missing = await objects.completeParts(object, parts.upload_id, wanted);
    if (missing !== undefined && missing.length > 0)
      return { lacks: missingParts(name, missing, wanted.length) };
  }
  const head = await objects.head(object);
  if (head?.size !== size) return { lacks: name };
  // For an upload in one piece, storage has already refused any other bytes.
  if (parts === null && head.sha256 !== sha256) return { lacks: name };
  return { file: { ...described, verified: parts === null } };
}

async function inspected(objects: ObjectWriter, model: Model, files: readonly ModelFile[]): Promise<Model> {
  const onnx = files.find(({ role }) => role === 'model');
  if (onnx === undefined) {
    throw new ServiceError(
      'conflict',
      'The ONNX file has not been uploaded: POST here with its sha256 and size first.',
    );
  }
  const summary = await inspectModel(objectSource(objects, onnx.object, onnx.size));
  const lacking = lackingData(summary, files);
  if (lacking.length > 0) {
    throw new ServiceError(
      'conflict',
      `External data: ${lacking.join('; ')}. For each, POST here with file=data and its name, and send the file. Then repeat this request.`,
    );
  }
  return { ...model, status: 'ready', digest: modelDigest(files), files: [...files], summary };
}

/**
 * Return the model after all announced files are accepted, with these shapes stored. A `ready` model keeps its
 * ONNX file, but accepts calibration and evaluation sets at any time. Throw a 409 problem that names missing
 * files, and a 400 problem for files that are not a valid model.
 */
export async function acceptModel(
  objects: ObjectWriter,
  model: Model,
  given: Partial<StoredShapes>,
): Promise<Model> {
  const arrivals = await Promise.all(model.pending.map((pending) => arrivalOf(objects, pending)));
  const lacking = arrivals.flatMap((arrival) => ('lacks' in arrival ? [arrival.lacks] : []));
  if (lacking.length > 0) {
    throw new ServiceError(
      'conflict',
      `Not uploaded yet: ${lacking.join('; ')}. Send the bytes to the URLs from the response to POST, then repeat this request.`,
    );
  }
  const arrived = arrivals.flatMap((arrival) => ('file' in arrival ? [arrival.file] : []));
  const kept = model.files.filter((file) => !arrived.some((other) => isSameFile(file, other)));
  const files = [...kept, ...arrived];
  const shapes = { ...model.shapes, ...given };
  try {
    for (const file of arrived) {
      if (file.role === 'calibration' || file.role === 'evaluation')
        await requireArchive(objects, file.name, file.object);
      if (file.role === 'labels') await requireLabels(objects, file);
      if (file.role === 'preprocessing') await requireJson(objects, file);
    }
    const next = model.status === 'ready' ? { ...model, files } : await inspected(objects, model, files);
    if (next.summary !== null) requireShapesOf(next.summary, shapes);
    return { ...next, pending: [], shapes };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw badRequest([{ in: 'path', name: 'model_name', message: error.message }]);
  }
}
