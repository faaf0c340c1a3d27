import type { ArtifactKind } from '../data/artifact.ts';

/** The variable that names the folder of a kind to the user's command. */
export const folderVariable = { artifact: 'OUTPUT_DIR', checkpoint: 'CHECKPOINT_DIR' } as const;

/** The files of a job are more than it may keep; the message names the limit. */
export class ArtifactLimit extends Error {
  override readonly name = 'ArtifactLimit';

  constructor(kind: ArtifactKind, maxBytes: number) {
    super(`The files in ${folderVariable[kind]} exceed the limit of ${maxBytes} bytes.`);
  }
}
