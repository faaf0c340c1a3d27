import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { setImmediate as settled } from 'node:timers/promises';
import { Random } from '../../../shared/onnx/measure/session/random.ts';

interface Timer {
  at: number;
  order: number;
  act: (() => void) | undefined;
}

const isBefore = (one: Timer, other: Timer): boolean =>
  one.at === other.at ? one.order < other.order : one.at < other.at;

/** A heap of timers, the earliest first. */
class Timers {
  readonly #heap: Timer[] = [];

  get first(): Timer | undefined {
    return this.#heap[0];
  }

  push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(timer);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = timer;
  }

  pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, last)) break;
      heap[index] = child;
      index = 2 * index + (child === left ? 1 : 2);
    }
    heap[index] = last;
  }
}

/** What Node has under way beside timers and the ends of streams: a file that is read, say, or reads that are gathered. */
const isUnderWay = (): boolean =>
  process.getActiveResourcesInfo().some((kind) => kind === 'Immediate' || kind.includes('Req'));

/** Resolves once all that this moment brought about waits for a later one. */
async function workDone(): Promise<void> {
  do await settled();
  while (isUnderWay());
}

/**
 * Time that passes only when nothing is left to do. It takes the place of timers, dates and random numbers in this
 * process, so that unchanged code runs hours in seconds.
 */
export class VirtualClock {
  /** Epoch milliseconds. */
  now = Date.UTC(2026, 0, 1);
  readonly #timers = new Timers();
  #order = 0;

  /** Replace the clocks of this process for good. */
  install(seed: number): void {
    const clock = this;
    const random = new Random(seed);
    class VirtualDate extends Date {
      constructor(value: string | number | Date = clock.now) {
        super(value);
      }
      static override now(): number {
        return clock.now;
      }
    }
    const virtual = {
      setTimeout: (act: (...given: unknown[]) => void, milliseconds = 0, ...given: unknown[]) =>
        this.#add(milliseconds, () => act(...given)),
      clearTimeout: (timer: Timer | undefined) => {
        if (timer !== undefined) timer.act = undefined;
      },
    };
    Object.assign(globalThis, { Date: VirtualDate, ...virtual });
    // What imports its timers by name has them from these, also those that are promises.
    Object.assign(timers, virtual);
    Object.assign(timers.promises, {
      setTimeout: <T>(milliseconds = 0, value?: T) => this.sleep(milliseconds).then(() => value),
    });
    syncBuiltinESMExports();
    const began = this.now;
    Object.assign(performance, { now: () => this.now - began });
    Math.random = () => random.uniform();
  }

  #add(milliseconds: number, act: () => void): Timer & { unref(): void } {
    this.#order += 1;
    const at = this.now + Math.max(0, Math.round(milliseconds));
    const timer = { at, order: this.#order, act, unref: () => {} };
    this.#timers.push(timer);
    return timer;
  }

  /** Resolve after so many milliseconds of this time. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.#add(milliseconds, resolve));
  }

  /** Let time pass until a moment, in epoch milliseconds. */
  async runUntil(end: number): Promise<void> {
    await workDone();
    for (;;) {
      const { first } = this.#timers;
      if (first === undefined || first.at > end) break;
      this.now = first.at;
      for (let timer: Timer | undefined = first; timer?.at === this.now; timer = this.#timers.first) {
        this.#timers.pop();
        timer.act?.();
      }
      await workDone();
    }
    this.now = end;
  }
}
