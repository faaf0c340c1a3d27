import type { PruningOutcome } from './pruning-outcome.ts';

/** The change of a layer's weight. */
export interface LayerChange {
  /** Name of the node, or of its first output where it has none. */
  layer: string;
  operator: string;
  /** Name of the weight, as it was in the source. */
  weight: string;
  parameters_before: number;
  parameters_after: number;
  /** Parameters other than zero; null where they were not counted. */
  nonzero_before: number | null;
  nonzero_after: number | null;
  /** Relative L2 error of the weight, ‖w′ − w‖ / ‖w‖; null where the shapes differ. */
  error: number | null;
}

/** Something that a method left as it was. */
export interface Kept {
  what: string;
  why: string;
}

const keptSaid = 3;

/** The changes of a transformation, collected while it works; part of the receipt. */
export class TransformReport {
  readonly layers: LayerChange[] = [];
  readonly kept: Kept[] = [];
  /** Notes for the owner. */
  readonly notes: string[] = [];
  /** Warnings that the result may be bad. */
  readonly warnings: string[] = [];
  /** Of a pruning; null for other methods. */
  pruning: PruningOutcome | null = null;

  keep(what: string, why: string): void {
    this.kept.push({ what, why });
  }

  /** The first kept layers as a sentence, for the error that nothing could be changed; empty where there are none. */
  keptText(): string {
    if (this.kept.length === 0) return '';
    const others = this.kept.length - keptSaid;
    const said = this.kept.slice(0, keptSaid).map(({ what, why }) => `${clipped(what)}: ${clipped(why)}`);
    return ` Kept as they are: ${said.join('; ')}${others > 0 ? `; and ${others} more` : ''}.`;
  }
}

/** A model may use any names. */
const clipped = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
