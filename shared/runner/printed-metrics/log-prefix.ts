const stamp = [
  String.raw`\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`,
  String.raw`\d\d/\d\d \d\d:\d\d:\d\d`,
  String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`,
].join('|');

/**
 * What loggers and launchers write in front of a line: times, levels, `[11/29 02:00:00 d2.utils.events]:`, Hydra's
 * `[2026-11-29 02:00:00,123][__main__][INFO] -`, absl's
 * `I1129 02:00:00.1 140 train.py:148]`, and the tasks of Metaflow, Ray, torchrun and mpirun.
 */
const part = new RegExp(
  `\\s{0,4}(?:${[
    `\\[(?:${stamp})(?: [\\w.]{1,60}){0,2}\\]`,
    `(?:${stamp})(?![\\w<])`,
    String.raw`[IWE]\d{4} \d\d:\d\d:\d\d\.\d{1,9}\s{1,6}\d{1,20} [\w.]{1,60}:\d{1,6}\]`,
    String.raw`\[[\w.]{1,60}\](?=\[(?:INFO|DEBUG|WARNING)\])`,
    String.raw`\[?(?:INFO|DEBUG|WARNING|I)\](?=[\s:|-])`,
    String.raw`(?:INFO|DEBUG|WARNING|I)(?=[\s:|-])`,
    String.raw`\[[\w/.-]{1,60} \(pid \d{1,9}\)\]`,
    String.raw`\(\w[\w.]{0,60} pid=\d{1,9}[^)]{0,60}\)`,
    String.raw`\[(?:rank|default)\d{1,5}\]:?`,
    String.raw`\[\d{1,5},\d{1,5}\]<std\w{3}>:`,
    String.raw`[\w.]{1,60}\s{0,2}[:|-]?\s{1,3}(?=\[?(?:INFO|DEBUG|WARNING)\b)`,
  ].join('|')})[\\s:|-]{0,6}`,
  'y',
);

/** Name of a logger. */
const logger = /^[\w.:<>]{1,60}\s{0,2}[:|-]\s{1,3}/;

const maxParts = 6;

/** Return a line without what a logger wrote in front of it, and also without a name that may be the logger's. */
export function withoutPrefix(text: string): string[] {
  let at = 0;
  for (let count = 0; count < maxParts; count += 1) {
    part.lastIndex = at;
    if (!part.test(text)) break;
    at = part.lastIndex;
  }
  const line = at === 0 ? text : text.slice(at);
  const [named] = logger.exec(line) ?? [];
  return named === undefined ? [line] : [line, line.slice(named.length)];
}
