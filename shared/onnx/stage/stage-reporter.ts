/** Messages from a stage to its supervisor. */
export interface StageReporter {
  progress(fraction: number): void;
  say(line: string): void;
}
