import { chmod, chown, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Compression } from '../../data/models/compression.ts';
import { type ModelFile, modelFileNames } from '../../data/models/model-file.ts';
import type { CommandUser } from '../../host/host.ts';
import type { Optimization } from '../../onnx/engine/optimize/optimization.ts';
import { inspectModel } from '../../onnx/model/inspect/inspect-model.ts';
import { matchShapes, parseShapes } from '../../onnx/model/inspect/match-shapes.ts';
import type { ModelSummary } from '../../onnx/model/inspect/model-summary.ts';
import { requireShapes } from '../../onnx-models/completeness.ts';
import { fetchObject } from '../training/fetch-inputs.ts';
import type { CompressionJob } from './compression-job.ts';

/** The folders of one run. The stages of the engine may read `model` and `sets`, and own `work`. */
export interface ModelWorkspace {
  /** The model with its external data, and nothing else. */
  model: string;
  /** Calibration and evaluation sets. */
  sets: string;
  work: string;
  /** The folder that contains the others. */
  root: string;
  remove(): Promise<void>;
}

/** Paths of a model's files. */
interface FetchedModel {
  model: string;
  calibration?: string;
  evaluation?: string;
}

/**
 * Download the model's files of the request's time, and check their hashes. The stages can read them but not
 * change them.
 * @throws JobError if a file is gone or has changed
 */
export async function fetchModel(
  { record, objects, stop }: Pick<CompressionJob, 'record' | 'objects' | 'stop'>,
  workspace: ModelWorkspace,
): Promise<FetchedModel> {
  for (const file of record.files.filter(({ role }) => role !== 'preprocessing')) {
    const path = placeOf(file, workspace);
    await makeFolders(workspace.model, path);
    const what = file.role === 'model' ? `model ${record.model_name}` : `file ${file.name} of the model`;
    await fetchObject(objects, file.object, file.sha256, path, what, stop.signal);
    await chmod(path, 0o444);
  }
  const pathOf = (role: 'calibration' | 'evaluation') =>
    record.files.some((file) => file.role === role) && { [role]: join(workspace.sets, modelFileNames[role]) };
  return {
    model: join(workspace.model, modelFileNames.model),
    ...pathOf('calibration'),
    ...pathOf('evaluation'),
  };
}

/** Create the folders between a model's and one of its files, for the job's user to pass through. */
async function makeFolders(model: string, path: string): Promise<void> {
  const between = relative(model, dirname(path)).split(sep);
  if (between[0] === '' || between[0] === '..') return;
  for (const [at] of between.entries()) {
    const folder = join(model, ...between.slice(0, at + 1));
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
}

function placeOf({ role, name }: ModelFile, { model, sets }: ModelWorkspace): string {
  if (role === 'data' || role === 'preprocessing') return join(model, name);
  return join(role === 'model' ? model : sets, modelFileNames[role]);
}

/**
 * Create the folders of one run below `workFolder`, under an unguessable name. The job's own user may pass through
 * to its own folders but not list; users of other jobs on the host see nothing of it.
 */
export async function createModelWorkspace(
  workFolder: string,
  name: string,
  user: CommandUser | undefined,
): Promise<ModelWorkspace> {
  await mkdir(workFolder, { recursive: true, mode: 0o711 });
  const root = await mkdtemp(join(workFolder, `${name}-`));
  const [model, sets, work] = [join(root, 'model'), join(root, 'sets'), join(root, 'work')];
  for (const folder of [model, sets, work]) await mkdir(folder, { mode: 0o700 });
  if (user !== undefined) {
    // Grant access by the group. This process owns the files, and the stages must not change them.
    for (const folder of [root, model, sets]) await chown(folder, 0, user.gid);
    await chmod(root, 0o710);
    for (const folder of [model, sets]) await chmod(folder, 0o750);
    await chown(work, user.uid, user.gid);
  }
  return {
    model,
    sets,
    work,
    root,
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/**
 * Return the dimensions of the model's inputs by name, from the compression's request or else from the model's stored
 * shapes, and the requested ones of its outputs; undefined if there are none.
 * @throws ModelError naming both shapes if they do not match the model's
 */
export async function requestedShapes(
  { inputs, outputs, stored_shapes }: Compression,
  file: string,
): Promise<Pick<Optimization, 'shapes' | 'areShapesStored' | 'outputShapes'>> {
  const summary = await summaryOf(file);
  requireShapes({ inputs, outputs }, summary);
  return {
    shapes: shapesOf(inputs ?? stored_shapes.inputs, summary.inputs),
    areShapesStored: inputs === null,
    outputShapes: shapesOf(outputs, summary.outputs),
  };
}

/** Summarize a model file. @throws ModelError if it is not a model */
async function summaryOf(file: string): Promise<ModelSummary> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    return await inspectModel({
      size,
      async read(offset, length) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      },
    });
  } finally {
    await handle.close();
  }
}

type Shapes = ReadonlyMap<string, readonly (number | null)[]>;

function shapesOf(text: string | null, tensors: ModelSummary['inputs']): Shapes | undefined {
  if (text === null) return undefined;
  const matched = matchShapes(parseShapes(text), tensors);
  return matched.ok ? new Map(matched.shapes.map(({ name, dims }) => [name, dims])) : undefined;
}
