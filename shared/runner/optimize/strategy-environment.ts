import { dirname, join } from 'node:path';
import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import {
  type ContainerEnvironment,
  containerEnvironment,
  containerVariables,
} from '../job/container-environment.ts';

/** From `shared/onnx/stage/main.js`. */
const toRoot = '../../../..';

const Variables = z.object({
  ...containerVariables,
  STRATEGY_ID: Ulid,
  /** Where node and the program of a stage lie, if not where this program does: the job's user must be able to read them. */
  STAGE_NODE: z.string().min(1).optional(),
  STAGE_PROGRAM: z.string().min(1).optional(),
});

/** What a container is told about its pruning or quantization. */
export interface StrategyEnvironment extends ContainerEnvironment {
  strategy_id: string;
  /** Command line that starts a stage. */
  stageCommand: readonly string[];
  /** All that the program of a stage consists of is in here. */
  stageFolder: string;
}

/**
 * Reads what Batch and the submission put into the environment; throws naming every bad variable.
 * `stageProgram` is the stage's program beside the job's own.
 */
export function readStrategyEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  stageProgram: string,
): StrategyEnvironment {
  const value = Variables.parse(environment);
  const container = containerEnvironment(value);
  const { name, value: mark } = container.marker;
  const program = [value.STAGE_NODE ?? process.execPath, value.STAGE_PROGRAM ?? stageProgram];
  return {
    ...container,
    strategy_id: value.STRATEGY_ID,
    // A stage outlives this process where that is killed, and is then found by the marker.
    stageFolder:
      value.STAGE_NODE === undefined
        ? join(value.STAGE_PROGRAM ?? stageProgram, toRoot)
        : dirname(value.STAGE_NODE),
    stageCommand: ['/usr/bin/env', `${name}=${mark}`, ...program],
  };
}
