/** Results of an import, or of a count of what it would bring. */
export interface Imported {
  experiments: number;
  runs: number;
  /** Number of these runs that an earlier import had copied. */
  known: number;
  params: number;
  points: number;
  files: number;
  bytes: number;
  models: number;
  versions: number;
  /** How much was not brought as it is, by the reason. */
  omitted: Record<string, number>;
  /** Failed items with their reasons. */
  failures: string[];
}

export const nothingImported = (): Imported => ({
  experiments: 0,
  runs: 0,
  known: 0,
  params: 0,
  points: 0,
  files: 0,
  bytes: 0,
  models: 0,
  versions: 0,
  omitted: {},
  failures: [],
});

/** Add what of a run was not brought as it is. */
export function addOmitted({ omitted }: Imported, counts: Iterable<readonly [string, number]>): void {
  for (const [reason, count] of counts) omitted[reason] = (omitted[reason] ?? 0) + count;
}
