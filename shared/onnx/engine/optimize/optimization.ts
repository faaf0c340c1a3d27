import type { Sandbox } from '../../../host/host.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';

/** A model to be pruned or quantized. */
export interface Optimization {
  request: OptimizationRequest;
  /** Path of the model file, with its external data in the same folder. Never written to. */
  model: string;
  /** Path of an npz file with inputs for calibrating the ranges of activations. */
  calibration?: string | undefined;
  /** Path of an npz file with inputs and `labels` for measuring accuracy. */
  evaluation?: string | undefined;
  /**
   * Dimensions of inputs by name; null for an open dimension. A set with other dimensions is refused, unless the
   * shapes are stored ones.
   */
  shapes?: ReadonlyMap<string, readonly (number | null)[]> | undefined;
  /** Whether `shapes` were stored with the model and not requested. A set then takes precedence. */
  areShapesStored?: boolean | undefined;
  /** Dimensions of outputs by name. The samples of a set must produce them. */
  outputShapes?: ReadonlyMap<string, readonly (number | null)[]> | undefined;
  /** An empty working folder. The result is written to `result/` within it. */
  folder: string;
  /** File name of the result, `model.onnx` by default. Its external data is `<name>.data`. */
  name?: string | undefined;
  /** Command line that starts a stage's process. The program must call `runStage` and be an absolute path. */
  stageCommand: readonly string[];
  /** User of the stages; requires root. The user must be able to read the model and the sets. */
  user?: { uid: number; gid: number } | undefined;
  /**
   * Sandbox of the stages. By default they see the whole machine. The kept folders must include the folder, the
   * model and the sets.
   */
  sandbox?: Sandbox | undefined;
  /** Limits of each stage. By default three quarters of the available memory, and an hour. */
  limits?: { memoryBytes?: number; seconds?: number } | undefined;
  /** Seconds until the work must have ended. A search ends before that and keeps its best result. */
  secondsLeft?: (() => number) | undefined;
  /** Write a line to the log. */
  say(line: string): void;
  /** Report a stage's progress from 0 to 1, and its total bytes if known. */
  progress(stage: string, fraction: number, bytes?: number): void;
  /** Ends everything when aborted; the promise then rejects with its reason. */
  signal: AbortSignal;
}

export interface Optimized {
  receipt: Receipt;
  /** Names of the files in `result/`. The model file comes first. */
  files: readonly string[];
}
