import type { ObjectReader } from '../../../shared/aws/objects.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { type Model, putModel, requireReadyModel } from '../../../shared/data/models/model.ts';
import { isSameFile, type ModelFile, type PendingFile } from '../../../shared/data/models/model-file.ts';
import { setsOfArtifacts } from '../../../shared/onnx-models/artifact-sets.ts';
import type { StoredShapes } from '../../../shared/onnx-models/completeness.ts';
import { type Announcing, announceFile, withdrawFiles } from './announce-file.ts';
import { requireShapesOf, type SetsRequest } from './model-request.ts';

type Adding = Announcing & { artifacts: ObjectReader };

/**
 * Add artifacts of an experiment to a ready model as its calibration and evaluation sets, and replace existing
 * ones. Storage makes the copies. They are announced before they are made, so a crash leaves nothing behind.
 * Repeating the call is harmless.
 * @throws ConditionFailedError when another change came between
 */
export async function addSets(
  context: Adding,
  model_name: string,
  present: Model | undefined,
  { experiment_id, ...paths }: SetsRequest,
  storedShapes: StoredShapes,
): Promise<Model> {
  const { records, objects, now } = context;
  const ready = await requireReadyModel(records, model_name);
  const sets = await setsOfArtifacts(context, experiment_id, paths);
  requireShapesOf(ready.summary, {
    inputs: storedShapes.inputs ?? ready.shapes.inputs,
    outputs: storedShapes.outputs ?? ready.shapes.outputs,
  });
  const pathOf = (role: ModelFile['role']) =>
    (role === 'calibration' ? paths.calibration : paths.evaluation) ?? '';
  let model: Model = present ?? ready;
  const copied: ModelFile[] = [];
  const announced: PendingFile[] = [];
  for (const { object, ...set } of sets) {
    const wanted = { kind: 'upload' as const, ...set, isMultipart: false };
    const { model: next, file } = await announceFile(context, model_name, model, wanted, storedShapes);
    model = next;
    // The model already has this exact file.
    if (file === undefined) continue;
    if (!(await objects.copy(object, file.object))) throw notFound('artifact', pathOf(set.role));
    copied.push({ ...set, object: file.object });
    announced.push(file);
  }
  const isSame = (one: Pick<ModelFile, 'role' | 'name'>) => copied.some((other) => isSameFile(one, other));
  const shapes = {
    inputs: storedShapes.inputs ?? model.shapes.inputs,
    outputs: storedShapes.outputs ?? model.shapes.outputs,
  };
  const hasShapes = shapes.inputs === model.shapes.inputs && shapes.outputs === model.shapes.outputs;
  if (copied.length === 0 && hasShapes) return model;
  const next: Model = {
    ...model,
    files: [...model.files.filter((file) => !isSame(file)), ...copied],
    pending: model.pending.filter((file) => !isSame(file)),
    shapes,
    updated_at: now().toISOString(),
    version: model.version + 1,
  };
  await putModel(records, next, model);
  await withdrawFiles(records, announced);
  return next;
}
