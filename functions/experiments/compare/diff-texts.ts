import { breathe } from '../../../shared/core/stop-signal.ts';

/** The texts of an experiment that a comparison shows. */
export interface Texts extends Record<Field, string | undefined> {
  config_id: string | null;
}

/** Unified diffs; null if the texts are equal, or one experiment has no such text. */
export interface TextDiffs extends Record<Field, string | null> {
  /** Whether a diff was left out because all diffs together are too long. */
  omitted: boolean;
}

const fields = ['config', 'dependencies', 'lock'] as const;
type Field = (typeof fields)[number];

export const noDiffs: TextDiffs = { config: null, dependencies: null, lock: null, omitted: false };

/**
 * Diff the first texts with each of the others. All diffs of a request share a number of characters and of steps; other
 * requests get their turns meanwhile, and the work ends with its request.
 */
export async function diffTexts(first: Texts, others: readonly Texts[]): Promise<TextDiffs[]> {
  // Load the diff library with the first comparison.
  const { unifiedDiff } = await import('./unified-diff.ts');
  const differing = (texts: Texts) =>
    fields.flatMap((field) => {
      const [former, latter] = [first[field], texts[field]];
      return former === undefined || latter === undefined || former === latter
        ? []
        : { field, former, latter };
    });
  let left = others.flatMap(differing).length;
  let steps = maxSteps;
  let room = maxCharacters;
  const made: TextDiffs[] = [];
  for (const texts of others) {
    const diffs = { ...noDiffs };
    for (const { field, former, latter } of differing(texts)) {
      await breathe();
      // A diff has an equal part of the steps. The following ones share what it leaves.
      const part = Math.floor(steps / left);
      const budget = { steps: part };
      const name = field === 'config' ? (texts.config_id ?? field) : field;
      const text = room > 0 ? unifiedDiff(name, former, latter, budget) : null;
      steps -= part - Math.max(0, budget.steps);
      left -= 1;
      room -= text?.length ?? 0;
      if (text !== null && room >= 0) diffs[field] = text;
      else diffs.omitted = true;
    }
    made.push(diffs);
  }
  return made;
}

/** Maximum number of characters of all diffs in a response. */
const maxCharacters = 2_000_000;

/** Most steps of all diffs of a request: some 0.5 s. Two configurations of 10,000 lines may have 160 changes of a line. */
const maxSteps = 2_000_000;
