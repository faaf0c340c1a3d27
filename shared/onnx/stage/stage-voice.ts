/** What a stage tells its supervisor while it works. */
export interface StageVoice {
  progress(fraction: number): void;
  say(line: string): void;
}
