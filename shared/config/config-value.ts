export type ConfigScalar = string | number | boolean | null;

export interface ConfigMapping {
  [key: string]: ConfigValue;
}

export type ConfigList = ConfigValue[];

export type ConfigCollection = ConfigMapping | ConfigList;

/**
 * A parsed configuration's values: plain data that `JSON.stringify` carries whole.
 * Mappings have no prototype, so that keys such as `__proto__` and `constructor` are data like any other.
 */
export type ConfigValue = ConfigScalar | ConfigCollection;

/** Most levels of nested collections in a file. The top level counts as 1. */
export const maxConfigDepth = 100;

/** A new mapping without a prototype. */
export function emptyMapping(): ConfigMapping {
  return Object.create(null);
}

export function isMapping(value: ConfigValue | undefined): value is ConfigMapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A number as JSON can carry it without loss. Integers that a double would show with other digits (most beyond 2^53)
 * become texts of their digits, and NaN and the infinities the texts `NaN`, `Infinity` and `-Infinity`: a text is
 * seen to be special, while a rounded number or a null is not.
 */
export function exactNumber(value: number | bigint): number | string {
  const number = Number(value);
  if (!Number.isFinite(number)) return String(value);
  const isSame = typeof value === 'number' || BigInt(number) === value || String(number) === String(value);
  return isSame ? number : String(value);
}
