import { dirname, extname, join } from 'node:path';
import * as z from 'zod';
import type { ObjectWriter } from '../../aws/objects.ts';
import { Ulid } from '../../core/formats.ts';
import type { Compression } from '../../data/models/compression.ts';
import type { Optimization, Optimized } from '../../onnx/engine/optimize/optimization.ts';
import { type BatchContainer, batchContainer, containerVariables } from '../job/batch-container.ts';
import type { HeldJob } from '../job/hold-job.ts';

/** The container of a pruning or quantization. */
interface CompressionContainer extends BatchContainer {
  strategy_id: string;
  /** Command line that starts a stage. */
  stageCommand: readonly string[];
  /** Folder with every file of a stage's program. */
  stageFolder: string;
}

/** The engine that does the work. */
export type Optimize = (optimization: Optimization) => Promise<Optimized>;

/** A compression whose lease this container holds. */
export interface CompressionJob extends HeldJob<Compression> {
  container: CompressionContainer;
  objects: ObjectWriter;
  optimize: Optimize;
  newId(): string;
}

const Variables = z.object({
  ...containerVariables,
  STRATEGY_ID: Ulid,
  /**
   * Copies of Node and of the stage's program that the job's user can read, if it cannot read this program's
   * folder.
   */
  STAGE_NODE: z.string().min(1).optional(),
  STAGE_PROGRAM: z.string().min(1).optional(),
});

/** Path to the root from `shared/onnx/engine/process/main.js`. */
const toRoot = '../../../..';

/**
 * Parse the variables that Batch and the submission set.
 * @param stageProgram the stage's program next to the job's own
 * @throws ZodError naming every bad variable
 */
export function readCompressionContainer(
  variables: Readonly<Record<string, string | undefined>>,
  stageProgram: string,
): CompressionContainer {
  const value = Variables.parse(variables);
  const container = batchContainer(value);
  const { name, value: mark } = container.marker;
  const program = [value.STAGE_NODE ?? process.execPath, value.STAGE_PROGRAM ?? stageProgram];
  return {
    ...container,
    strategy_id: value.STRATEGY_ID,
    // The marker identifies a stage that outlives this process.
    stageFolder:
      value.STAGE_NODE === undefined
        ? join(value.STAGE_PROGRAM ?? stageProgram, toRoot)
        : dirname(value.STAGE_NODE),
    stageCommand: ['/usr/bin/env', `${name}=${mark}`, ...program],
  };
}

/** Path of the stage's program, relative to the job's program in the source tree and in every bundle. */
export const stageProgramOf = (jobFolder: string, jobFile: string): string =>
  join(jobFolder, `../../shared/onnx/engine/process/main${extname(jobFile)}`);
