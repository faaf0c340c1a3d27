import { decimalPattern } from '../../shared/core/text/decimal.ts';
import type { ExperimentFields } from '../../shared/data/experiments/tracking.ts';
import { NameSearch } from './name-search.ts';

/** Decides which texts a link shows. */
export interface Discretion {
  /** Whether a text may be shown: a name of an experiment, metric or file, a title, a note, a tag. */
  shows(text: string): boolean;
  showsParam(name: string, value: string): boolean;
}

/**
 * Hide params, and what tells of them: params below them, and texts with their name or value.
 * @param hide names of params
 * @param tracked fields of all experiments of the link, whose values of these params are hidden
 */
export function hiddenParams(
  hide: readonly string[],
  tracked: readonly (ExperimentFields | undefined)[],
): Discretion {
  const hidden = new NameSearch();
  for (const name of hide) for (const spelling of spellings(name)) hidden.add(spelling);
  const isHidden = (text: string): boolean => spellings(text).some((spelling) => hidden.isIn(spelling));
  const values = new NameSearch();
  // A short value says nothing without its name.
  for (const fields of hide.length === 0 ? [] : tracked)
    for (const [name, value] of Object.entries(fields?.params ?? {}))
      if (value.length >= minValue && isHidden(name)) values.add(value.toLowerCase());
  const shows = (text: string): boolean => !isHidden(text) && !values.isIn(text.toLowerCase());
  return {
    shows,
    // Equal numbers of two params mean different things.
    showsParam: (name, value) => !isHidden(name) && (decimalPattern.test(value) || shows(value)),
  };
}

const minValue = 4;

/** Return a text as programs and their flags may write it: `--batch-size`, `batchSize` and `batchsize` are one name. */
function spellings(text: string): string[] {
  const words = text.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, '_').toLowerCase();
  const plain = words.replace(/[-_\s]+/g, '_');
  return [plain, plain.replaceAll('_', '')];
}
