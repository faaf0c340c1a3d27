import {
  maxMetricNames,
  maxRunName,
  metricNamesMaxBytes,
} from '../../shared/data/experiments/tracking-rules.ts';
import { Names, plainPath, tooLong } from './fit-names.ts';
import { type PointBatch, pointBatches, timeOf, timeRange } from './point-batches.ts';
import type { Pair, SourcePoint, SourceRun } from './source.ts';
import { Omissions } from './sources/omissions.ts';

/** A run in the form that this service takes. A dry run makes it, too, so it says what an import will say. */
export class FittedRun {
  readonly params: readonly Pair[];
  readonly tags: readonly Pair[];
  /** What does not come as it is. */
  readonly omissions = new Omissions();
  readonly refused: Refused = { params: [], tags: [], datasets: [] };
  readonly #rename: (metric: string) => string;
  readonly #names = new Names();
  readonly #paths = new Names(plainPath);
  /** First metric of the source of each name here, and those that come to one name. */
  readonly #firsts = new Map<string, string>();
  readonly #joined = new Map<string, string>();
  #nameBytes = 0;

  /** @param rename returns the name that the user wants for a metric of the source */
  constructor(run: SourceRun, rename: (metric: string) => string) {
    this.#rename = rename;
    if (run.start !== timeOf(run.start)) this.#note(`times ${timeRange}: left out`);
    if ([...run.name].length > maxRunName) this.#note(`names of runs beyond ${maxRunName} characters: cut`);
    const note = this.#note.bind(this);
    const tags = run.tags.filter(({ key }) => !ownTags.has(key));
    this.params = fitPairs('params', run.params, this.refused, note);
    this.tags = fitPairs('tags', tags, this.refused, note);
  }

  batches(points: AsyncIterable<readonly SourcePoint[]>): AsyncGenerator<PointBatch> {
    return pointBatches(points, this.#nameOf.bind(this), this.#note.bind(this));
  }

  pathOf(path: string): string {
    return this.#paths.fit(path);
  }

  /** Note the names that differ and what the source leaves out, once points and files are read. */
  noteOthers(omitted: ReadonlyMap<string, number> = new Map()): void {
    for (const [name, fitted] of this.#names.changed) this.#note(`name ${name}: it is ${fitted} here`);
    for (const reason of this.#joined.values()) this.#note(reason);
    for (const [path, fitted] of this.#paths.changed) this.#note(`file ${path}: it is ${fitted} here`);
    for (const [reason, count] of omitted) this.omissions.add(reason, count);
  }

  #note(reason: string): void {
    this.omissions.add(reason);
  }

  /** Return the name here of a metric; undefined if the run takes no more metrics. */
  #nameOf(key: string): string | undefined {
    const name = this.#names.fit(this.#rename(key));
    const first = this.#firsts.get(name);
    if (first === undefined) {
      const bytes = this.#nameBytes + Buffer.byteLength(name);
      if (this.#firsts.size === maxMetricNames || bytes > metricNamesMaxBytes) return undefined;
      this.#nameBytes = bytes;
      this.#firsts.set(name, key);
    } else if (first !== key && !this.#joined.has(key))
      this.#joined.set(key, `metrics ${first} and ${key}: both are ${name} here`);
    return name;
  }
}

interface Refused {
  params: Pair[];
  tags: Pair[];
  datasets: object[];
}

/** Artifact with the params, tags and data sets of a run that do not fit. */
export const valuesFile = 'import/values.json';

/** Tag of an imported run with its id at the source. */
export const importedTag = 'import.run_id';

export const parentTag = 'mlflow.parentRunId';

/** Tag of a completely imported run, with the state of the source. */
export const completeTag = 'import.complete';

/** Tags that the import writes. Those of a source that was imported itself are of that import. */
const ownTags: ReadonlySet<string> = new Set([importedTag, completeTag, parentTag]);

/** Give names and values the form that this service takes. Note what changes, and keep the whole value in `refused`. */
function fitPairs(
  kind: 'params' | 'tags',
  pairs: readonly Pair[],
  refused: Refused,
  note: (reason: string) => void,
): Pair[] {
  const names = new Names();
  const last = new Map<string, Pair>();
  for (const pair of pairs) {
    const key = names.fit(pair.key);
    if (key !== pair.key) note(`name ${pair.key}: it is ${key} here`);
    const earlier = last.get(key);
    last.set(key, pair);
    if (earlier === undefined || earlier.value === pair.value) continue;
    refused[kind].push(earlier);
    note(`${kind} of one name: the last one here, the others in ${valuesFile}`);
  }
  return [...last].map(([key, pair]) => {
    const text = pair.value.toWellFormed();
    const value = tooLong[kind](text);
    if (text !== pair.value) note('texts with halves of characters: without these here');
    if (value === undefined) return { key, value: text };
    refused[kind].push(pair);
    note(`${kind} whose value is too long: cut here, whole in ${valuesFile}`);
    return { key, value };
  });
}
