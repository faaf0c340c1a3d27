import type { Sandbox } from '../../../process/sandbox.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';

/** A model to be pruned or quantized. */
export interface Optimization {
  request: OptimizationRequest;
  /** Path of the model's file; its external data lie beside it. Never written to. */
  model: string;
  /** Path of an npz file of inputs that ranges of activations are taken from. */
  calibration?: string | undefined;
  /** Path of an npz file of inputs and `labels` that accuracy is measured on. */
  evaluation?: string | undefined;
  /** Dimensions of inputs, by name, null for what stays open. A set that differs is refused, unless they are stored. */
  shapes?: ReadonlyMap<string, readonly (number | null)[]> | undefined;
  /** Whether these shapes were stored with the model, not asked for: then a set decides. */
  areShapesStored?: boolean | undefined;
  /** Dimensions of outputs, by name, that the samples of a set must lead to. */
  outputShapes?: ReadonlyMap<string, readonly (number | null)[]> | undefined;
  /** An empty folder to work in. The result is left in `result/` within it. */
  folder: string;
  /** Name of the result's file in there, `model.onnx` by default; its data are called `<name>.data`. */
  name?: string | undefined;
  /** Command line that starts a stage's process, its program by absolute path: one that calls `runStage`. */
  stageCommand: readonly string[];
  /** Whom stages run as, for which this process must be root; the model and the sets must be readable for them. */
  user?: { uid: number; gid: number } | undefined;
  /**
   * Sandbox of the stages; by default they see the whole machine. The folder, the model and the sets must be among
   * what is kept.
   */
  sandbox?: Sandbox | undefined;
  /** Of each stage. By default three quarters of the memory there is, and an hour. */
  limits?: { memoryBytes?: number; seconds?: number } | undefined;
  /** A line for the log. */
  say(line: string): void;
  /** How much of a stage is done, from 0 to 1, and of how many bytes where that is known. */
  progress(stage: string, fraction: number, bytes?: number): void;
  /** Ends everything when aborted; the promise then rejects with its reason. */
  signal: AbortSignal;
}

export interface Optimized {
  receipt: Receipt;
  /** Names of the files in `result/`, the model's own first. */
  files: readonly string[];
}
