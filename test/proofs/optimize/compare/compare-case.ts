import { mkdirSync, rmSync } from 'node:fs';
import * as z from 'zod';
import { median } from '../../bench/figure.ts';
import type { Case } from './cases.ts';
import { runPython } from './run-python.ts';
import { type CasePlace, quantizeOn, resultOf, type Side, type Taken } from './sides.ts';

const pair = z.object({ reference: z.number(), ours: z.number() });

const Equality = z.object({ equal: z.number(), of: z.number(), differing: z.array(z.string()) });

const Judgement = z.object({
  weights: Equality,
  biases: Equality,
  activations: z.object({
    shared: z.number(),
    of: z.number(),
    missing: z.array(z.string()),
    largest: z.number().nullable(),
    zero_points_equal: z.number(),
  }),
  error: pair,
  accuracy: pair.extend({ model: z.number() }).nullable(),
  latency: z.object({ ratio: z.number(), interval: z.tuple([z.number(), z.number()]) }),
  milliseconds: pair,
});

/** What came of a case: medians of what each side took, and how the results compare. */
export interface Compared {
  of: Case;
  taken: Record<Side, Taken>;
  judged: z.output<typeof Judgement>;
}

function medianOf(all: readonly Taken[]): Taken {
  const of = (field: keyof Taken): number => median(all.map((taken) => taken[field]));
  return { seconds: of('seconds'), cpu_seconds: of('cpu_seconds'), peak_bytes: of('peak_bytes') };
}

/** Quantizes on both sides, in turns, as often as it is to be repeated, and judges the two results. */
export async function compareCase(
  of: Case,
  place: CasePlace,
  repeats: number,
  evaluation: string,
): Promise<Compared> {
  rmSync(place.folder, { recursive: true, force: true });
  mkdirSync(place.folder, { recursive: true });
  const all: Record<Side, Taken[]> = { reference: [], ours: [] };
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const order: readonly Side[] = repeat % 2 === 0 ? ['reference', 'ours'] : ['ours', 'reference'];
    for (const side of order) all[side].push(await quantizeOn(side, place, of));
  }
  const [reference, ours] = [resultOf(place.folder, 'reference'), resultOf(place.folder, 'ours')];
  const task = { model: place.model, reference, ours, evaluation };
  const judged = Judgement.parse(JSON.parse(await runPython(place.python, 'judge.py', task)));
  rmSync(place.folder, { recursive: true, force: true });
  return { of, taken: { reference: medianOf(all.reference), ours: medianOf(all.ours) }, judged };
}
