/** A single value of a configuration or of a command. */
export type Scalar = string | number | boolean | null;

/** What becomes of a value in the trials: it stays, lies in a range, or is one of a list. */
export type ParameterKind = 'fixed' | 'range' | 'values';

/** A value as it is typed, with the fields of all kinds, so that another kind keeps what was typed. */
export interface ParameterDraft {
  /** Path in the configuration, or name of a flag. */
  name: string;
  /** Value that a training has without the sweep. */
  present: Scalar;
  kind: ParameterKind;
  value: string;
  min: string;
  max: string;
  step: string;
  scale: 'linear' | 'log';
  values: string;
}

/**
 * Suggest what a sweep varies: the values that usually decide how well a training goes.
 * @param present values of the configuration or command
 * @param run params of an experiment to search around; then all its numbers are candidates
 */
export function suggestSpace(
  present: readonly (readonly [string, Scalar])[],
  run?: Readonly<Record<string, string>>,
): ParameterDraft[] {
  const drafts = present.map(([name, value]) => {
    const own = run !== undefined && Object.hasOwn(run, name) ? run[name] : undefined;
    return draftAround(name, value, own === undefined ? value : scalarLike(own, value));
  });
  const chosen = new Set(chosenOf(drafts, run !== undefined));
  return drafts.map((draft) => (chosen.has(draft) ? { ...draft, kind: 'range' } : draft));
}

/** Return the drafts to vary, at most eight: more make a search slow. */
function chosenOf(drafts: readonly ParameterDraft[], isAround: boolean): readonly ParameterDraft[] {
  const numbers = drafts.filter(({ name, value }) => isNumber(value) && !bookkeeping.test(lastWord(name)));
  const usual = numbers.filter(({ name }) => tuned.test(lastWord(name)));
  if (isAround) return [...new Set([...usual, ...numbers])].slice(0, maxChosen);
  return usual.length > 0 ? usual.slice(0, maxChosen) : numbers.slice(0, 1);
}

const maxChosen = 8;

const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text));

const lastWord = (name: string): string => name.split('.').at(-1) ?? name;

/** Names of values that people tune. */
const tuned =
  /^(?:lr|eta|alpha|gamma|c|momentum)$|learning[_-]?rate|(?:^|_)lr(?:_|$)|weight[_-]?decay|dropout|batch[_-]?size|hidden|depth|width|layers|units|reg|lambda|l1|l2|beta|temperature|estimators|leaves/i;

/** Names of numbers that identify, bound or place a training. They make it no better. */
const bookkeeping =
  /seed|random_?state|^(?:max_?)?(?:epochs?|steps?|iterations?|iters?)$|^num_?(?:epochs?|steps?)$|workers|threads|jobs|gpus?$|devices?$|rank|port|version|verbos|interval|every|wait|sleep|timeout|classes|channels|^\d+$/i;

/**
 * Return the draft of one value: a range around a number, both values of a flag.
 * @param value where the range lies; `present` is what the configuration has
 */
export function draftAround(name: string, present: Scalar, value: Scalar): ParameterDraft {
  const range =
    typeof value === 'number'
      ? rangeAround(name, value)
      : { min: '', max: '', step: '', scale: 'linear' as const };
  const values =
    typeof value === 'boolean'
      ? 'true, false'
      : typeof value === 'number'
        ? valuesAround(value, range).map(numeral).join(', ')
        : listText([value ?? '']);
  return { name, present, kind: 'fixed', value: value === null ? '' : String(value), ...range, values };
}

type Range = Pick<ParameterDraft, 'min' | 'max' | 'step' | 'scale'>;

/**
 * Return a range around a number. Whole numbers stay whole and reach from half to double. Rates, and other numbers below
 * 0.1, reach from ten times less to ten times more, each order of magnitude as often. Shares between 0.1 and 1 stay below 1.
 */
function rangeAround(name: string, value: number): Range {
  const linear = (min: number, max: number, step = ''): Range => ({
    min: numeral(min),
    max: numeral(max),
    step,
    scale: 'linear',
  });
  if (value === 0) return linear(0, 1);
  if (value < 0) return linear(value * 2, value / 2);
  if (value < 0.1 || (value < 10 && rates.test(lastWord(name))))
    return { min: numeral(value / 10), max: numeral(value * 10), step: '', scale: 'log' };
  if (value < 1) return linear(value / 2, (1 + value) / 2);
  if (!Number.isInteger(value)) return linear(value / 2, value * 2);
  return linear(Math.max(1, Math.round(value / 2)), value * 2, '1');
}

/** Names of values whose orders of magnitude matter. */
const rates =
  /^(?:lr|eta|alpha)$|learning[_-]?rate|(?:^|_)lr(?:_|$)|weight[_-]?decay|^(?:l1|l2|lambda|reg)$/i;

const valuesAround = (value: number, { min, max }: Range): number[] =>
  [...new Set([Number(min), value, Number(max)])].sort((a, b) => a - b);

/** Return a number in at most three digits, and a large whole one as it is. */
const numeral = (value: number): string =>
  String(Number.isInteger(value) ? value : Number(value.toPrecision(3)));

/**
 * Return a draft for a grid, which needs a list or a step: a range without a step becomes a list of its ends and what
 * lies between them.
 */
export function forGrid(draft: ParameterDraft): ParameterDraft {
  const [min, max] = [Number(draft.min), Number(draft.max)];
  if (draft.kind !== 'range' || draft.step.trim() !== '' || !(max > min)) return draft;
  const between = draft.scale === 'log' && min > 0 ? Math.sqrt(min * max) : (min + max) / 2;
  return { ...draft, kind: 'values', values: [min, between, max].map(numeral).join(', ') };
}

/** Convert typed text to a value of the kind that the configuration has. A text stays a text there. */
export function scalarLike(text: string, present: Scalar): Scalar {
  if (typeof present === 'string') return text;
  const plain = text.trim();
  if (/^true$/i.test(plain)) return true;
  if (/^false$/i.test(plain)) return false;
  if (present === null && (plain === '' || plain === 'null')) return null;
  return isNumber(plain) ? Number(plain) : text;
}

/** Split a typed list at its commas. A part in double quotes may have some; a backslash there keeps the next letter. */
export const listOf = (text: string): string[] =>
  (text.match(/\s*"(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]+/g) ?? []).flatMap((part) => {
    const plain = part.trim();
    if (plain === '') return [];
    return /^"(?:[^"\\]|\\.)*"$/.test(plain) ? plain.slice(1, -1).replace(/\\(.)/g, '$1') : plain;
  });

/** Return values as a list that {@link listOf} splits again. */
const listText = (values: readonly string[]): string =>
  values
    .map((value) => (/[,"]|^\s|\s$/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value))
    .join(', ');
