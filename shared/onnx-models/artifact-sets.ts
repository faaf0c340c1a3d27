import type { ObjectReader } from '../aws/objects.ts';
import { badRequest, notFound, type ParameterFault, ServiceError } from '../core/service-error.ts';
import { type Artifact, findArtifact } from '../data/experiments/artifact.ts';
import { type ModelFile, type ModelFileRole, modelFileNames } from '../data/models/model-file.ts';
import type { TableReader } from '../data/table/table.ts';
import { ModelError } from '../onnx/model/model-error.ts';
import { requireArchive } from './require-archive.ts';

interface Reading {
  records: TableReader<'records'>;
  artifacts: ObjectReader;
}

/** An artifact as a file of a model; `object` is the artifact's object, the source of the copy. */
export function fileOfArtifact(
  role: ModelFileRole,
  name: string,
  { path, size, sha256, object }: Artifact,
): ModelFile {
  if (sha256 === null) {
    const detail = `The client sent ${path} in parts, so its SHA-256 is unknown. Upload it as a file of the model instead.`;
    throw new ServiceError('conflict', detail);
  }
  return { role, name, size, sha256, object, verified: true };
}

/** Return an artifact of an experiment. @throws ServiceError `not-found` */
export async function requireArtifact(
  { records }: Pick<Reading, 'records'>,
  experiment_id: string,
  path: string,
): Promise<Artifact> {
  const artifact = await findArtifact(records, experiment_id, path);
  if (artifact === undefined) throw notFound('artifact', path);
  return artifact;
}

/** Paths of the artifacts to use as the sets of a model. */
export interface SetPaths {
  calibration: string | undefined;
  evaluation: string | undefined;
}

/**
 * Return artifacts of an experiment as calibration and evaluation sets.
 * @throws ServiceError `not-found` for a missing one, and 400 that names all that are not npz archives
 */
export async function setsOfArtifacts(
  reading: Reading,
  experiment_id: string,
  paths: SetPaths,
): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  const faults: ParameterFault[] = [];
  for (const role of ['calibration', 'evaluation'] as const) {
    const path = paths[role];
    if (path === undefined) continue;
    const artifact = await requireArtifact(reading, experiment_id, path);
    files.push(fileOfArtifact(role, modelFileNames[role], artifact));
    try {
      await requireArchive(reading.artifacts, path, artifact.object);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      faults.push({ in: 'query', name: role, message: error.message });
    }
  }
  if (faults.length > 0) throw badRequest(faults);
  return files;
}
