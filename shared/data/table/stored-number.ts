import * as z from 'zod';

/** Encode a number for JSON: NaN, the infinities and -0 by their names. */
export function storedNumber(value: number): number | NamedNumber {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : (named.find((name) => Object.is(Number(name), value)) ?? 'NaN');
}

const named = ['NaN', 'Infinity', '-Infinity', '-0'] as const;
type NamedNumber = (typeof named)[number];

/** Schema that decodes a number of {@link storedNumber}. */
export const StoredNumber = z.union([z.number(), z.enum(named).transform(Number)]);

/**
 * Whether the table can store a number as a number. DynamoDB has no NaN and no smaller magnitudes, and its client
 * refuses larger ones.
 */
export const isTableNumber = (value: number): boolean =>
  value === 0 || (Math.abs(value) <= Number.MAX_SAFE_INTEGER && Math.abs(value) >= minMagnitude);

/** Smallest nonzero magnitude that DynamoDB stores. */
const minMagnitude = 1e-130;

/** Encode a number for the table: as text if the table cannot store the number. */
export const tableNumber = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0';
  return isTableNumber(value) ? value : String(value);
};

/** Schema of the output of {@link tableNumber}, unchanged. */
export const TableNumberText = z.union([
  z.number(),
  z.string().regex(/^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/),
]);

/** Schema that decodes a number of {@link tableNumber}. */
export const TableNumber = TableNumberText.transform(Number);

/**
 * Copy a value with each number that the table cannot store as a map of its text. `NaN` and the infinities stay as they
 * are: a record that may hold them says how. A value without such numbers is returned itself.
 */
export function withTableNumbers(value: unknown): unknown {
  if (typeof value === 'number')
    return Number.isFinite(value) && !isTableNumber(value) ? { [numberName]: String(value) } : value;
  return mapped(value, withTableNumbers);
}

/** Reverse {@link withTableNumbers}. */
export function fromTableNumbers(value: unknown): unknown {
  const text = typeof value === 'object' && value !== null ? Reflect.get(value, numberName) : undefined;
  if (typeof text === 'string' && Number.isFinite(Number(text)) && Object.keys(Object(value)).length === 1)
    return Number(text);
  return mapped(value, fromTableNumbers);
}

const numberName = '#number';

/** Map the values of a list or a plain object. Without a change, return it itself. */
function mapped(value: unknown, map: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(map);
    return list.some((one, index) => one !== value[index]) ? list : value;
  }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([name, inner]) => {
    const other = map(inner);
    isChanged ||= other !== inner;
    return [name, other] as const;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
