import type { ObjectReader, ObjectWriter } from '../../../shared/aws/objects.ts';
import { findArtifact, projectOfArtifact } from '../../../shared/data/experiments/artifact.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import type { Model } from '../../../shared/data/models/model.ts';
import { type ModelFile, modelFileNames } from '../../../shared/data/models/model-file.ts';
import {
  largestPreprocessing,
  mainPreprocessing,
  preprocessingNames,
} from '../../../shared/data/models/preprocessing-names.ts';
import type { TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import type { Ambient, Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { inspectModel } from '../../../shared/onnx/model/inspect/inspect-model.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import type { StoredShapes } from '../../../shared/onnx-models/completeness.ts';
import { objectSource } from '../../../shared/onnx-models/object-source.ts';
import { registerModel } from '../../../shared/onnx-models/register-model.ts';
import { fileOfArtifact, requireArtifact, setsOfArtifacts } from './artifact-sets.ts';
import type { ArtifactRequest } from './model-request.ts';

type Registering = Pick<Ambient, 'now' | 'newId'> & {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  artifacts: ObjectReader;
  caller: Caller;
};

/**
 * Register an artifact of an experiment as a model: the ONNX file, the external data files next to it, its
 * tokenizer with the settings beside it, and the named calibration and evaluation sets. Repeating the call is harmless. Throw 404 problems for missing artifacts,
 * and a `ModelError` for an invalid model.
 */
export async function registerArtifact(
  context: Registering,
  model_name: string,
  { experiment_id, path, calibration, evaluation }: ArtifactRequest,
  shapes: StoredShapes,
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
