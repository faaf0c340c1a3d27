import type { ObjectReader, ObjectWriter } from '../../../shared/aws/objects.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { type Artifact, findArtifact, projectOfArtifact } from '../../../shared/data/artifact.ts';
import { requireExperiment } from '../../../shared/data/experiment.ts';
import type { Model } from '../../../shared/data/model.ts';
import { type ModelFile, type ModelFileRole, modelFileNames } from '../../../shared/data/model-file.ts';
import type { TableWriter } from '../../../shared/data/table.ts';
import type { Ambient, Caller } from '../../../shared/http/endpoint-context.ts';
import type { StoredShapes } from '../../../shared/models/completeness.ts';
import { objectSource } from '../../../shared/models/object-source.ts';
import { registerModel } from '../../../shared/models/register-model.ts';
import { inspectModel } from '../../../shared/onnx/inspect/inspect-model.ts';
import type { ArtifactRequest } from './model-request.ts';

type Registering = Pick<Ambient, 'now' | 'newId'> & {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  artifacts: ObjectReader;
  caller: Caller;
};

function fileOf(role: ModelFileRole, name: string, { path, size, sha256, object }: Artifact): ModelFile {
  if (sha256 === null) {
    const detail = `${path} was sent in parts by its client, so that its SHA-256 is not known. Upload it as a file of the model.`;
    throw new ServiceError('conflict', detail);
  }
  return { role, name, size, sha256, object, verified: true };
}

/**
 * Registers what an experiment left as a model: the ONNX file with the external data beside it, and calibration and
 * evaluation sets where they are named. Repeating it is harmless. Throws 404 problems for what is not there, and a
 * `ModelError` for what is no model.
 */
export async function registerArtifact(
  context: Registering,
  model_name: string,
  { experiment_id, path, calibration, evaluation }: ArtifactRequest,
  shapes: StoredShapes,
): Promise<Model> {
  const { records, artifacts, caller } = context;
  const find = (wanted: string) => findArtifact(records, experiment_id, wanted);
  const require = async (wanted: string): Promise<Artifact> => {
    const artifact = await find(wanted);
    if (artifact === undefined) throw notFound('artifact', wanted);
    return artifact;
  };
  const onnx = await require(path);
  const project_id = projectOfArtifact(onnx);
  await requireExperiment(records, project_id, experiment_id);
  const files = [fileOf('model', modelFileNames.model, onnx)];
  const sets = { calibration, evaluation } as const;
  for (const role of ['calibration', 'evaluation'] as const) {
    const wanted = sets[role];
    if (wanted !== undefined) files.push(fileOf(role, modelFileNames[role], await require(wanted)));
  }
  const { external_files } = await inspectModel(objectSource(artifacts, onnx.object, onnx.size));
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  for (const name of external_files) {
    const data = await find(`${folder}${name}`);
    // The registration reports all missing files at once.
    if (data !== undefined) files.push(fileOf('data', name, data));
  }
  return registerModel(context, {
    model_name,
    owner: caller.username,
    owner_id: caller.user_id,
    origin: { kind: 'artifact', project_id, experiment_id, path },
    files,
    shapes,
  });
}
