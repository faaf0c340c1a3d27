import { type Artifact, type ExperimentPath, type FileKind, openArtifact } from '../api/experiments.ts';
import { follow } from '../ui/save.ts';
import { attempt } from '../ui/states/notice.tsx';

/** Save a file of an experiment, which the browser fetches from its storage. */
export const downloadFile = (
  { project_id, experiment_id }: ExperimentPath,
  { path }: Pick<Artifact, 'path'>,
  kind: FileKind = 'artifact',
) =>
  attempt(async () => {
    const response = await openArtifact({ project_id, experiment_id }, path, 1, { kind });
    await response.body?.cancel();
    follow(response.url, path.split('/').at(-1) ?? kind);
  });
