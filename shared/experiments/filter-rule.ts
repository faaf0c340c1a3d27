import { paragraphOrBlank } from '../core/text/text-rules.ts';
import { parseFilter } from '../search/parse-filter.ts';
import { SearchSyntaxError } from '../search/scanner.ts';
import { experimentVocabulary } from './experiment-vocabulary.ts';

const surroundings = { now: new Date(0), usernameOf: () => undefined, bestOf: () => undefined };

/** Vocabulary that checks texts without experiments. */
export const anyExperiment = experimentVocabulary(surroundings);

/** Maximum number of characters of a filter. A URL holds about 8 KB. */
export const maxFilter = 6000;

/** A filter that is kept, such as that of a hook. */
export const FilterText = filterIn(anyExperiment);

/** A filter of one search, in which names may stand without their groups, and words to find. */
export const SearchText = filterIn(experimentVocabulary({ ...surroundings, isFree: true }));

function filterIn(vocabulary: typeof anyExperiment) {
  return paragraphOrBlank(maxFilter).superRefine((text, { addIssue }) => {
    const fault = faultIn(() => parseFilter(text, vocabulary));
    if (fault !== undefined) addIssue(fault);
  });
}

const attributes = Object.keys(anyExperiment.attributes).join(', ');

export const searchDescription = `Conditions with AND, OR, NOT and parentheses on \`metrics.<name>\` (the last value), \`params.<name>\`, \`tags.<name>\` and the attributes ${attributes}: = != < <= > >=, ~ and !~ (regular expressions), LIKE, ILIKE, IN, BETWEEN, IS NULL, IS SET, and these with NOT. Names with spaces are in backticks or double quotes. For example \`metrics.loss < 0.5 AND params.lr = '0.01'\`. Names may stand without their group and texts without quotes (\`lr < 0.001 or optimizer = lion\`), times may be words (\`created_at > yesterday\`, \`7 days ago\`), and a word alone is found in names, params and tags. A name without a group that no experiment has is refused.`;

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
