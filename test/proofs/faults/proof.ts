import type { Figure } from '../bench/figure.ts';
import type { Program } from './world/build-program.ts';

/** What a proof works with. */
export interface ProofContext {
  /** A folder of its own, removed afterwards. */
  folder: string;
  /** Stops what the proof has started, also when it fails. */
  started: AsyncDisposableStack;
  /** `short` takes seconds and runs with the tests; `long` is the proof itself. */
  size: 'short' | 'long';
  /** What is drawn is drawn once for each of them; 1 alone unless given. */
  seeds?: readonly number[];
  /** Of processes that are killed; unless it is given, a proof bundles one. */
  program?: Program;
  say(line: string): void;
  /** Takes the figures so far, now and then: they remain where the proof is broken off. */
  report?(figures: Figure[]): void;
}

/** One promise of the service, tried until it has figures. Each file `*.proof.ts` exports one as `proof`. */
export interface Proof {
  /** By which it is chosen. */
  name: string;
  title: string;
  prove(context: ProofContext): Promise<Figure[]>;
}
