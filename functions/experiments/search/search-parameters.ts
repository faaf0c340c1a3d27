import { paragraphOrBlank } from '../../../shared/core/text/text-rules.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentVocabulary } from '../../../shared/experiments/experiment-vocabulary.ts';
import { fieldsParameter } from '../../../shared/http/fields-mask/fields-parameter.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { parseOrder } from '../../../shared/search/parse-order.ts';
import { SearchSyntaxError } from '../../../shared/search/search-syntax-error.ts';

/** Longest filter, in characters: an address takes about 8 KB. */
const maxFilter = 6000;
/** Most terms of an order, whose values a cursor holds. */
const maxTerms = 4;

const vocabulary = experimentVocabulary({
  now: new Date(0),
  usernameOf: () => undefined,
  bestOf: () => undefined,
});

/** What is wrong with a text of the grammar; undefined where nothing is. */
function faultIn(parse: () => void): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof SearchSyntaxError) return error.message;
    throw error;
  }
}

const attributes = Object.keys(vocabulary.attributes).join(', ');

/** Query parameters of every search of experiments. */
export const searchParameters = {
  filter: paragraphOrBlank(maxFilter)
    .superRefine((text, { addIssue }) => {
      const fault = faultIn(() => parseFilter(text, vocabulary));
      if (fault !== undefined) addIssue(fault);
    })
    .optional()
    .describe(
      `Conditions joined by AND on \`metrics.<name>\` (the last value), \`params.<name>\`, \`tags.<name>\` and the attributes ${attributes}, with = != < <= > >=, LIKE, ILIKE, IN, NOT IN, IS NULL, IS NOT NULL; names with spaces in backticks or double quotes. Such as \`metrics.loss < 0.5 AND params.lr = '0.01'\`.`,
    ),
  order_by: paragraphOrBlank(maxFilter)
    .superRefine((text, { addIssue }) => {
      const fault = faultIn(() => {
        const terms = parseOrder(text, vocabulary);
        if (terms.length > maxTerms) addIssue(`has ${terms.length} names; at most ${maxTerms} are allowed`);
      });
      if (fault !== undefined) addIssue(fault);
    })
    .optional()
    .describe(
      'Names as in `filter` with ASC or DESC, at most four separated by commas, such as `metrics.loss, name DESC`. NaN and then missing values come last in both directions; equal rows follow newest first.',
    ),
  fields: fieldsParameter(ExperimentAnswer),
};
