import type { ArtifactKind } from '../../../data/experiments/artifact.ts';
import type { ProjectBytesError } from '../../../data/projects/project.ts';
import { JobError } from '../../job/job-error.ts';

/** The variable that names the folder of a kind to the user's command. */
export const folderVariable = { artifact: 'OUTPUT_DIR', checkpoint: 'CHECKPOINT_DIR' } as const;

/** The files of a job exceed a limit, which the message names. */
export class ArtifactLimitError extends JobError {
  override readonly name = 'ArtifactLimitError';

  /** @param project the error that names the limit of the project, where that was exceeded */
  constructor(kind: ArtifactKind, maxBytes: number, project?: ProjectBytesError) {
    const folder = folderVariable[kind];
    super(
      project === undefined
        ? `The files in ${folder} exceed the limit of ${maxBytes} bytes.`
        : `The files in ${folder} exceed the limit of the project. ${project.message}`,
    );
  }
}
