import {
  type StageOptions,
  type StageOutcome,
  StageProcess,
} from '../../../shared/onnx/engine/process/stage-process.ts';
import type { StageKind, TaskOf } from '../../../shared/onnx/measure/session/stage-task.ts';

/**
 * Run a stage to its end in its own process, then end the process.
 *
 * @throws as {@link StageProcess.run}
 */
export async function startStage<K extends StageKind>(
  options: StageOptions,
  task: TaskOf<K>,
  progress: (fraction: number, bytes?: number) => void = () => {},
): Promise<StageOutcome<K>> {
  const process = await StageProcess.start(options);
  return await process.run<K>(task, progress, true);
}
