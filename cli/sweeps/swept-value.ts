import { NumberLiteral, typedValue } from '../../shared/config/set-values/typed-value.ts';
import { decimalSource } from '../../shared/core/text/decimal.ts';
import type { SweepParameter } from '../../shared/sweeps/spec/parameter.ts';
import { type Override, parseOverride } from '../run/override-config.ts';

/** A value of `-S`: a parameter of the sweep, or one value for all trials. */
export type SweptValue = { name: string; parameter: SweepParameter } | Override;

/**
 * Parse `-S` of a sweep: `lr=1e-4..1e-1:log` is a range, `batch=16..128:16` one with steps, `depth=2,4,8` a list, and
 * `epochs=5` a value of all trials.
 * @throws Error that Stricli reports
 */
export function parseSwept(text: string): SweptValue {
  const override = parseOverride(text);
  const name = override.path.join('.');
  const value = text.slice(text.indexOf('=') + 1).trim();
  const range = rangePattern.exec(value);
  if (range !== null) return { name, parameter: rangeOf(name, range) };
  if (halfRange.test(value))
    throw new Error(`${name}: a range has two numbers, such as 1e-4..1e-1:log, not "${value}"`);
  // YAML has its own lists, maps and quoted texts: values of the configuration as they are.
  if (!value.includes(',') || /^[[{"']/.test(value)) return override;
  const values = value.split(',').map((one) => scalar(name, one));
  return { name, parameter: { values } };
}

const rangePattern = new RegExp(`^(${decimalSource})\\.\\.(${decimalSource})((?::[^:]*)*)$`);
/** A number and dots: a range that lacks its end, or has something else there. */
const halfRange = new RegExp(`^${decimalSource}\\.\\.`);

function rangeOf(name: string, [, min, max, rest = '']: readonly string[]): SweepParameter {
  const number = (text = ''): number => exact(name, new NumberLiteral(text, Number(text)));
  const range: SweepParameter = { min: number(min), max: number(max) };
  for (const word of rest.split(':').slice(1)) {
    if (word === 'log' || word === 'linear') range.scale = word;
    else if (word !== '' && Number.isFinite(Number(word))) range.step = number(word);
    else throw new Error(`${name}: after a range, only log, linear or a step is allowed, not "${word}"`);
  }
  return range;
}

function scalar(name: string, text: string): string | number | boolean {
  const typed = typedValue(text.trim());
  const value = typed instanceof NumberLiteral ? exact(name, typed) : typed;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new Error(`${name}: a list takes texts, numbers, true and false, separated by commas`);
}

function exact(name: string, literal: NumberLiteral): number {
  if (literal.isExact) return literal.value;
  throw new Error(`${name}: a sweep varies whole numbers up to 2^53 - 1, not ${literal.source}`);
}
