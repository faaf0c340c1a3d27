import { isCompanion, isMetricName, isQualifier, storedName, wholeName } from './metric-words.ts';
import { numberPattern, printedNumber } from './printed-number.ts';

const word = String.raw`[A-Za-z][\w@./'-]{0,60}`;

/**
 * `name: value`, `name=value`, `name value`, with up to three words of a name. What follows a number may not make
 * it a unit, a date, a range or an expression.
 */
const pair = new RegExp(
  String.raw`(${word}(?: ${word}){0,2})(\s{0,8}[:=]\s{0,8}|\s{1,8})(${numberPattern}|nan|NaN|inf)(?:\/\s{0,4}(\d{1,12})\b|(%))?(?![\w:/*^+]|-\d|\.\w|\s[*+/^]\s)`,
  'g',
);

/**
 * Return the metrics among the pairs of a line, by the names under which they are stored.
 * @param prefix `Test` of `Test set: Average loss: 0.05, Accuracy: 98/100`
 */
export function namedPairs(text: string, prefix = ''): [string, number][] {
  const found: FoundPair[] = [];
  for (const [, name = '', separator = '', digits = '', whole] of text.matchAll(pair)) {
    const isMetric = isMetricName(name);
    const isNamed = separator.trim() !== '' || name.split(' ').length <= 2;
    if (!(isMetric && isNamed) && !isCompanion(name.split(' ').at(-1) ?? '')) continue;
    const value = printedNumber(digits);
    if (value === undefined) continue;
    const stored = isMetric ? storedName(name) : (name.split(' ').at(-1) ?? '').toLowerCase();
    // `Accuracy: 9842/10000` is a share.
    found.push({ name, stored, isMetric, value: whole === undefined ? value : value / Number(whole) });
  }
  if (!found.some(({ isMetric }) => isMetric)) return [];
  const values = new Map<string, number>();
  for (const { name, stored, isMetric, value } of found) {
    // `D loss` and `G loss` of one line are two metrics.
    const isShared = isMetric && found.some((one) => one.stored === stored && one.name !== name);
    const own = isShared ? wholeName(name) : stored;
    const isOf = prefix !== '' && isMetric && !isQualifier(own.split('_')[0] ?? '');
    const key = isOf ? `${prefix}_${own}` : own;
    if (!values.has(key)) values.set(key, value);
  }
  return [...values].filter(([name]) => name.length <= 100);
}

interface FoundPair {
  /** As it is printed. */
  name: string;
  stored: string;
  isMetric: boolean;
  value: number;
}
