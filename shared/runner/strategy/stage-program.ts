import { extname, join } from 'node:path';

/** The program of a stage, which lies beside the job's own in the source tree and in every bundle of it. */
export const stageProgramOf = (jobFolder: string, jobFile: string): string =>
  join(jobFolder, `../../shared/onnx/engine/process/main${extname(jobFile)}`);
