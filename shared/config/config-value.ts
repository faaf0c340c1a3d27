export type ConfigScalar = string | number | boolean | null;

export interface ConfigMapping {
  [key: string]: ConfigValue;
}

export type ConfigList = ConfigValue[];

export type ConfigCollection = ConfigMapping | ConfigList;

/**
 * Value of a parsed configuration: plain data that `JSON.stringify` writes without loss. Mappings have no
 * prototype, so keys such as `__proto__` and `constructor` are ordinary data.
 */
export type ConfigValue = ConfigScalar | ConfigCollection;

/** Maximum depth of nested collections in a file. The top level counts as 1. */
export const maxConfigDepth = 100;

/** Create a mapping without a prototype. */
export function emptyMapping(): ConfigMapping {
  return Object.create(null);
}

export function isMapping(value: ConfigValue | undefined): value is ConfigMapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Convert a number for JSON without loss. Integers that a double cannot represent exactly (most beyond 2^53)
 * become strings of their digits. NaN and the infinities become the strings `NaN`, `Infinity` and `-Infinity`. A
 * reader notices a string, but not a rounded number or a null.
 */
export function exactNumber(value: number | bigint): number | string {
  const number = Number(value);
  if (!Number.isFinite(number)) return String(value);
  const isSame = typeof value === 'number' || BigInt(number) === value || String(number) === String(value);
  return isSame ? number : String(value);
}
