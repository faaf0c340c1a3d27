/** What a stage tells its supervisor while it works. */
export interface StageReporter {
  progress(fraction: number): void;
  say(line: string): void;
}
