import type { Apply, Step } from './linearize.ts';

/** Moments of a request and of its answer. */
export interface Span {
  from: number;
  to: number;
}

/** What a sequential service would hold of records that depend on one another, and what requests saw and did of it. */
export class World<S> {
  readonly name: string;
  readonly initial: S;
  readonly steps: Step<S>[] = [];

  constructor(name: string, initial: S) {
    this.name = name;
    this.initial = initial;
  }

  /**
   * Notes what one request did. Its steps come stage by stage; those of one stage in any order. There is a step for
   * each record that it reads or transaction that it writes: more than that no operation promises.
   */
  note({ from, to }: Span, what: string, ...stages: readonly (readonly Apply<S>[])[]): void {
    let after: Step<S>[] = [];
    for (const stage of stages) {
      const steps = stage.map((apply) => ({ what, from, to, apply, after }));
      this.steps.push(...steps);
      if (steps.length > 0) after = steps;
    }
  }
}
