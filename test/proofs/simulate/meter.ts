/** The published limit of a rate, or of a share of time. */
export interface LimitFacts {
  /** Name of a limit without numbers and ids: limits of one kind are reported together. */
  kind: string;
  /** Units a second. */
  most: number;
}

interface Counter {
  second: number;
  units: number;
  window: number[];
  peak: number;
  refused: number;
}

/** Seconds over which a peak is taken: a limit that is exceeded for a moment is met by a repetition. */
const windowSeconds = 10;

/** Use of a limit, as a share of it. */
export interface LimitUse {
  kind: string;
  /** The partition, item or call that was used most. */
  name: string;
  /** Highest mean of ten seconds, as a share of the limit. */
  peak: number;
  /** Calls that the limit refused, of all of its kind. */
  refused: number;
}

/** What a deployment is billed for, beside the compute of its jobs. */
export interface Billed {
  /** Units of DynamoDB. */
  reads: number;
  writes: number;
  /** Requests at API Gateway. */
  requests: number;
  /** Runs of functions, and their milliseconds in all. */
  functions: number;
  milliseconds: number;
}

const nothingBilled = (): Billed => ({ reads: 0, writes: 0, requests: 0, functions: 0, milliseconds: 0 });

/** Units that are used of limits, second by second. */
export class Meter {
  readonly billed = nothingBilled();
  /** Units of DynamoDB by the kind of items. */
  readonly #units = new Map<string, Pick<Billed, 'reads' | 'writes'>>();
  readonly #now: () => number;
  readonly #counters = new Map<string, Map<string, Counter>>();
  readonly #limits = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  #counterOf({ kind, most }: LimitFacts, name: string): Counter {
    this.#limits.set(kind, most);
    let named = this.#counters.get(kind);
    if (named === undefined) {
      named = new Map();
      this.#counters.set(kind, named);
    }
    let counter = named.get(name);
    if (counter === undefined) {
      counter = { second: 0, units: 0, window: [], peak: 0, refused: 0 };
      named.set(name, counter);
    }
    const second = Math.floor(this.#now() / 1000);
    if (counter.second !== second) this.#close(counter, second);
    return counter;
  }

  #close(counter: Counter, second: number): void {
    const idle = Math.min(windowSeconds, second - counter.second - 1);
    counter.window.push(counter.units, ...Array.from({ length: idle }, () => 0));
    counter.window.splice(0, counter.window.length - windowSeconds);
    const sum = counter.window.reduce((total, units) => total + units, 0);
    // Of a limit that was used for a moment alone, the seconds before count as well.
    counter.peak = Math.max(counter.peak, sum / windowSeconds);
    counter.second = second;
    counter.units = 0;
  }

  /** Use units of a limit; false, and nothing used, where this second has too few left. */
  take(limit: LimitFacts, name: string, units: number): boolean {
    const counter = this.#counterOf(limit, name);
    if (counter.units > 0 && counter.units + units > limit.most) {
      counter.refused += 1;
      return false;
    }
    counter.units += units;
    return true;
  }

  /** Bill units of DynamoDB for items of a kind. */
  billUnits(direction: 'reads' | 'writes', items: string, units: number): void {
    this.billed[direction] += units;
    const sums = this.#units.get(items) ?? { reads: 0, writes: 0 };
    sums[direction] += units;
    this.#units.set(items, sums);
  }

  /** Forget what was billed before a measurement begins. */
  forgetBilled(): void {
    Object.assign(this.billed, nothingBilled());
    this.#units.clear();
  }

  /** Units of DynamoDB by the kind of items, the most expensive first: a write unit costs five read units. */
  units(): { items: string; reads: number; writes: number }[] {
    const cost = ({ reads, writes }: Pick<Billed, 'reads' | 'writes'>) => reads + 5 * writes;
    return [...this.#units]
      .map(([items, sums]) => ({ items, ...sums }))
      .sort((one, other) => cost(other) - cost(one));
  }

  /** Bill a run of a function that began at a time, in epoch milliseconds. */
  billFunction(began: number): void {
    this.billed.functions += 1;
    this.billed.milliseconds += this.#now() - began;
  }

  /** Count use, and what was refused, of a limit that something else enforces. */
  note(limit: LimitFacts, name: string, units: number, refused = 0): void {
    const counter = this.#counterOf(limit, name);
    counter.units += units;
    counter.refused += refused;
  }

  /** The use of each kind of limit, the most used first. */
  uses(): LimitUse[] {
    const second = Math.floor(this.#now() / 1000) + 1;
    const uses = [...this.#counters].map(([kind, named]): LimitUse => {
      const most = this.#limits.get(kind) ?? 1;
      let top: LimitUse = { kind, name: '', peak: 0, refused: 0 };
      let refused = 0;
      for (const [name, counter] of named) {
        this.#close(counter, second);
        refused += counter.refused;
        if (counter.peak / most >= top.peak) top = { kind, name, peak: counter.peak / most, refused: 0 };
      }
      return { ...top, refused };
    });
    return uses.sort((one, other) => other.peak - one.peak);
  }
}
