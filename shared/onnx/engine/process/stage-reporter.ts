/** Messages from a stage to its supervisor. */
export interface StageReporter {
  /** Report progress from 0 to 1, and the total bytes if known. */
  progress(fraction: number, bytes?: number): void;
  say(line: string): void;
}
