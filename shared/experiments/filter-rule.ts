import { paragraphOrBlank } from '../core/text/text-rules.ts';
import { parseFilter } from '../search/parse-filter.ts';
import { SearchSyntaxError } from '../search/scanner.ts';
import { experimentVocabulary } from './experiment-vocabulary.ts';

/** Vocabulary that checks texts without experiments. */
export const anyExperiment = experimentVocabulary({
  now: new Date(0),
  usernameOf: () => undefined,
  bestOf: () => undefined,
});

/** Maximum number of characters of a filter. A URL holds about 8 KB. */
export const maxFilter = 6000;

/** A filter of experiments in the grammar of searches. */
export const FilterText = paragraphOrBlank(maxFilter).superRefine((text, { addIssue }) => {
  const fault = faultIn(() => parseFilter(text, anyExperiment));
  if (fault !== undefined) addIssue(fault);
});

const attributes = Object.keys(anyExperiment.attributes).join(', ');

export const filterDescription = `Conditions joined by AND on \`metrics.<name>\` (the last value), \`params.<name>\`, \`tags.<name>\` and the attributes ${attributes}, with = != < <= > >=, LIKE, ILIKE, IN, NOT IN, IS NULL, IS NOT NULL; names with spaces are in backticks or double quotes. For example \`metrics.loss < 0.5 AND params.lr = '0.01'\`.`;

/** Return the syntax error of a text; undefined if it is valid. */
export function faultIn(parse: () => void): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof SearchSyntaxError) return error.message;
    throw error;
  }
}
