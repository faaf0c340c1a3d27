import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { type ModelFile, modelFileNames } from '../../data/models/model-file.ts';
import { fetchObject } from '../training/fetch-inputs.ts';
import type { ModelWorkspace } from './model-workspace.ts';
import type { StrategyJob } from './strategy-job.ts';

/** Paths of a model's files. */
export interface FetchedModel {
  model: string;
  calibration?: string;
  evaluation?: string;
}

function placeOf({ role, name }: ModelFile, { model, sets }: ModelWorkspace): string {
  if (role === 'data') return join(model, name);
  return join(role === 'model' ? model : sets, modelFileNames[role]);
}

/**
 * Download the files that the model had when the strategy was requested, and check their hashes. The stages can read
 * them, and not change them.
 * @throws JobError where one is gone or has changed
 */
export async function fetchModel(
  { record, objects, stop }: Pick<StrategyJob, 'record' | 'objects' | 'stop'>,
  workspace: ModelWorkspace,
): Promise<FetchedModel> {
  for (const file of record.files) {
    const path = placeOf(file, workspace);
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
