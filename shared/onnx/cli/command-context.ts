import type { ProgressLine } from './progress-line.ts';

/** Streams and signal of the command. */
export interface CommandContext {
  stageCommand: readonly string[];
  progress: ProgressLine;
  print(text: string): void;
  signal: AbortSignal;
}
