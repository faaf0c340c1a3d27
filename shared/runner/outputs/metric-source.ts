import type { FoundSource } from '../../metrics/found-source.ts';

/** Milliseconds for which the first points wait, because the program may report its metrics itself. */
const patience = 10_000;

/** Writers of TensorBoard files keep events back for two minutes, unless they are told otherwise. */
const filePatience = 150_000;

/**
 * Decides whose metrics count: those that the program reports, else those of one kind of file, else those of the log.
 * Files say more exactly what was measured, so the log waits while one is there that may hold metrics, and a file that comes
 * after the log adds the names that the log does not have. A search that
 * prints the values of its trials counts before files, in which the curves of all trials are mixed.
 */
export class MetricSource {
  readonly #onFound: (source: FoundSource) => void;
  readonly #waits: { patience: number; filePatience: number };
  #found: FoundSource | undefined;
  /** The kind of file that completes a log. */
  #completing: FoundSource | undefined;
  /** The source that has a name. */
  readonly #owners = new Map<string, FoundSource>();
  #hasReported = false;
  #mayComeFromFiles = false;
  #isSearch = false;

  /**
   * @param onFound is called before the first points of a source other than the program are stored
   * @param waits milliseconds for which first points wait, and those of the log while a file may hold metrics
   */
  constructor(onFound: (source: FoundSource) => void, waits = { patience, filePatience }) {
    this.#onFound = onFound;
    this.#waits = waits;
  }

  /** Whether the program has reported metrics itself. */
  get hasReported(): boolean {
    return this.#hasReported;
  }

  report(): void {
    this.#hasReported = true;
  }

  /** Note that there is a file that may hold metrics later. */
  expectFiles(): void {
    this.#mayComeFromFiles = true;
  }

  /** Note that the program prints the values of trials. */
  hearTrial(): void {
    this.#isSearch = true;
  }

  /**
   * Return whether the points of a source may be stored now, may be later, or never. `not these` are those of a log
   * beside files that count: later ones may, if they are of a search.
   * @param waited milliseconds since the first point of the source
   */
  claim(source: FoundSource, waited: number): 'now' | 'later' | 'not these' | 'never' {
    if (this.#hasReported) return 'never';
    // Single values complete the curves of a log.
    if (this.#found === 'log' && source === 'summary') return 'now';
    const isOfSearch = source === 'log' && this.#isSearch;
    // The first trial may have ended after a file was found to hold metrics.
    if (this.#found !== undefined) {
      if (this.#found === source || isOfSearch) return 'now';
      if (source === 'log') return 'not these';
      return this.#found === 'log' && !this.#isSearch ? this.#complete(source, waited) : 'never';
    }
    if (this.#isSearch && !isOfSearch && source !== 'summary') return 'never';
    const isLogBehindFiles = source === 'log' && this.#mayComeFromFiles && !isOfSearch;
    if (waited < this.#waits[isLogBehindFiles ? 'filePatience' : 'patience']) return 'later';
    this.#found = source;
    this.#onFound(source);
    return 'now';
  }

  /** Let one kind of file complete the log, which had the first points. */
  #complete(source: FoundSource, waited: number): 'now' | 'later' | 'never' {
    if (this.#completing !== undefined) return this.#completing === source ? 'now' : 'never';
    if (waited < this.#waits.patience) return 'later';
    this.#completing = source;
    this.#onFound(source);
    return 'now';
  }

  /** Return whether points of a name may come from a source that counts: the first that has the name keeps it. */
  owns(source: FoundSource, name: string): boolean {
    const owner = this.#owners.get(name) ?? source;
    if (this.#owners.size < maxOwners) this.#owners.set(name, owner);
    return owner === source || this.#isSearch;
  }
}

const maxOwners = 10_000;
