import {
  isCompanion,
  isLoss,
  isMetricName,
  isQualifier,
  remembered,
  storedName,
  wholeName,
} from './metric-words.ts';
import { commaNumberPattern, numberPattern, printedNumber } from './printed-number.ts';

const word = String.raw`[A-Za-z](?:[\w@./-]|'s){0,60}`;

/**
 * `name: value`, `name=value`, `name value`, with up to three words of a name, and the mean of an epoch in parentheses
 * behind it. What follows a number may not make it a unit, a date, a range, a list or an expression.
 */
const pair = new RegExp(
  String.raw`(${word}(?: ${word}){0,2})(\s{0,8}[:=]\s{0,8}\[?|\s{1,8})(${commaNumberPattern}|nan|NaN|inf)(?:\/\s{0,4}(\d{1,12})\b|(?:%))?(?:\s{1,2}\(\s{0,8}(${numberPattern})\))?(?![\w:/*^+]|-\d|,\d|\.\w|\s[*+/^]\s)`,
  'g',
);

/** `[train]` of ESPnet and `| Val: ` of many loops, which stand in front of several metrics. */
const section =
  /(?:^|[\s|[(,;-])(train|training|val|valid|validation|eval|test|dev)(?:\]|:)\s{1,3}(?=[A-Za-z])/gi;

/** `Train: 0.7, Val: 0.6, Test: 0.61` of PyTorch Geometric. */
const bare = /^(?:\w{1,20}\. )?(train|val|valid|test)$/i;

export interface PairsOptions {
  /** `Test` of `Test set: Average loss: 0.05, Accuracy: 98/100`, in front of every name. */
  prefix?: string;
  /** In front of names that are no losses: an accuracy of training batches is not that of the run. */
  scorePrefix?: string;
  /** Take the mean in parentheses instead of the batch's value. */
  takesMean?: boolean;
}

/** Return the metrics among the pairs of a line, by the names under which they are stored. */
export function namedPairs(text: string, options: PairsOptions = {}): [string, number][] {
  const { prefix = '', scorePrefix = '', takesMean = false } = options;
  const sections = sectionsOf(text);
  const found: FoundPair[] = [];
  // `matchAll` copies the expression each time, which takes longer than the search.
  pair.lastIndex = 0;
  for (let match = pair.exec(text); match !== null; match = pair.exec(text)) {
    const { 0: all, 1: name = '', 2: separator = '', 3: digits = '', 4: whole, 5: mean } = match;
    const { index } = match;
    const { isBare, isMetric, isShort, companion, stored } = factsOf(name);
    const isPlain = separator === ' ' || separator.trim() === '';
    const isNamed = isBare
      ? separator.trim() === ':' && digits.includes('.')
      : isMetric && (isShort || !isPlain);
    if (!isNamed && companion === undefined) continue;
    if (separator.endsWith('[') && text[index + all.length] !== ']') continue;
    const own = printedNumber(takesMean && mean !== undefined ? mean : digits);
    if (own === undefined) continue;
    const value = whole === undefined ? own : own / Number(whole); // `Accuracy: 9842/10000` is a share.
    const data = sections.findLast((one) => one.index < index)?.data ?? prefix;
    found.push({
      name,
      stored: isNamed ? stored : (companion ?? stored),
      isMetric: isNamed,
      isBare: isBare && isNamed,
      value,
      data,
    });
  }
  const bares = found.filter(({ isBare }) => isBare).length;
  const kept = bares === 1 && found.length === 1 ? [] : found;
  if (!kept.some(({ isMetric }) => isMetric)) return [];
  const values = new Map<string, number>();
  for (const one of kept) {
    const name = nameAmong(one, kept, scorePrefix);
    if (!values.has(name)) values.set(name, one.value);
  }
  return [...values].filter(([name]) => name.length <= 100);
}

function sectionsOf(text: string): { index: number; data: string }[] {
  const found: { index: number; data: string }[] = [];
  if (!text.includes(': ') && !text.includes('] ')) return found;
  section.lastIndex = 0;
  for (let match = section.exec(text); match !== null; match = section.exec(text))
    found.push({ index: match.index, data: (match[1] ?? '').toLowerCase() });
  return found;
}

/** What a printed name says. */
const factsOf = remembered((name: string) => {
  const words = name.split(' ');
  const last = words.slice(-2).join(' ');
  const companion = [last, words.at(-1) ?? ''].find(isCompanion);
  return {
    isBare: bare.test(name),
    isMetric: isMetricName(name),
    isShort: words.length <= 2,
    companion: companion?.replaceAll(' ', '_').toLowerCase(),
    stored: storedName(name),
  };
});

function nameAmong(
  { name, stored, isMetric, isBare, data }: FoundPair,
  all: readonly FoundPair[],
  scorePrefix: string,
): string {
  if (!isMetric || isBare) return isBare ? stored.toLowerCase().replace(/^.*_/, '') : stored;
  // `D loss` and `G loss` of one line are two metrics.
  const isShared = all.some((one) => one.stored === stored && one.name !== name && one.data === data);
  const own = isShared ? wholeName(name) : stored;
  if (isQualifier(own.split(/[_/.]/)[0] ?? '')) return own;
  const before = data === '' && !isLoss(own) ? scorePrefix : data;
  return before === '' ? own : `${before}_${own}`;
}

interface FoundPair {
  /** As it is printed. */
  name: string;
  stored: string;
  isMetric: boolean;
  isBare: boolean;
  value: number;
  /** Which data were measured, as the line says. */
  data: string;
}
