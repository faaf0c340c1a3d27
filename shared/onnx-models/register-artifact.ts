import type { ObjectReader, ObjectWriter } from '../aws/objects.ts';
import type { User } from '../data/accounts/user.ts';
import { findArtifact, projectOfArtifact } from '../data/experiments/artifact.ts';
import { requireExperiment } from '../data/experiments/experiment.ts';
import type { Model } from '../data/models/model.ts';
import { type ModelFile, modelFileNames } from '../data/models/model-file.ts';
import type { ModelLineage } from '../data/models/model-lineage.ts';
import {
  largestPreprocessing,
  mainPreprocessing,
  preprocessingNames,
} from '../data/models/preprocessing-names.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { inspectModel } from '../onnx/model/inspect/inspect-model.ts';
import { ModelError } from '../onnx/model/model-error.ts';
import { fileOfArtifact, requireArtifact, type SetPaths, setsOfArtifacts } from './artifact-sets.ts';
import type { StoredShapes } from './completeness.ts';
import { objectSource } from './object-source.ts';
import { registerModel } from './register-model.ts';

interface Registering {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  artifacts: ObjectReader;
  caller: Pick<User, 'user_id' | 'username'>;
  now(): Date;
  newId(): string;
}

/** Artifacts that become a model. */
interface ModelArtifacts extends SetPaths {
  experiment_id: string;
  /** Path of the ONNX file. */
  path: string;
}

/**
 * Register an artifact of an experiment as a model: the ONNX file, the external data files next to it, its
 * tokenizer with the settings beside it, and the named calibration and evaluation sets. Repeating the call is harmless. Throw 404 problems for missing artifacts,
 * and a `ModelError` for an invalid model.
 */
export async function registerArtifact(
  context: Registering,
  model_name: string,
  { experiment_id, path, calibration, evaluation }: ModelArtifacts,
  shapes: StoredShapes,
  lineage?: ModelLineage,
): Promise<Model> {
  const { records, artifacts, caller } = context;
  const onnx = await requireArtifact(context, experiment_id, path);
  const project_id = projectOfArtifact(onnx);
  await requireExperiment(records, project_id, experiment_id);
  const files = [
    fileOfArtifact('model', modelFileNames.model, onnx),
    ...(await setsOfArtifacts(context, experiment_id, { calibration, evaluation })),
  ];
  const { external_files } = await inspectModel(objectSource(artifacts, onnx.object, onnx.size));
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  for (const name of external_files) {
    const data = await findArtifact(records, experiment_id, `${folder}${name}`);
    // A missing file is no error here: the registration reports all missing files at once.
    if (data !== undefined) files.push(fileOfArtifact('data', name, data));
  }
  files.push(...(await preprocessingBeside(records, experiment_id, folder)));
  return registerModel(context, {
    model_name,
    owner: caller.username,
    owner_id: caller.user_id,
    origin: { kind: 'artifact', project_id, experiment_id, path },
    files,
    shapes,
    ...(lineage !== undefined && { lineage }),
  });
}

/** The tokenizer or the image processor in the folder of an ONNX file, or in the one above a folder `onnx`, with the settings beside it. */
async function preprocessingBeside(
  records: TableReader<'records'>,
  experiment_id: string,
  folder: string,
): Promise<ModelFile[]> {
  const places = [folder, ...(/(^|\/)onnx\/$/.test(folder) ? [folder.slice(0, -'onnx/'.length)] : [])];
  for (const path of places) {
    const mains = mainPreprocessing.map((name) => findArtifact(records, experiment_id, `${path}${name}`));
    if ((await Promise.all(mains)).every((main) => main === undefined)) continue;
    const files: ModelFile[] = [];
    for (const name of preprocessingNames) {
      const artifact = await findArtifact(records, experiment_id, `${path}${name}`);
      if (artifact === undefined) continue;
      if (artifact.size > largestPreprocessing(name))
        throw new ModelError(
          `${artifact.path} has ${artifact.size} bytes; at most ${largestPreprocessing(name)} are allowed.`,
        );
      files.push(fileOfArtifact('preprocessing', name, artifact));
    }
    return files;
  }
  return [];
}
