/** Messages from a stage to its supervisor. */
export interface StageReporter {
  /** How much is done, from 0 to 1, and of how many bytes where that is known. */
  progress(fraction: number, bytes?: number): void;
  say(line: string): void;
}
