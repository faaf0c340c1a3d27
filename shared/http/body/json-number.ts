import * as z from 'zod';

const named = ['NaN', 'Infinity', '-Infinity'] as const;

/** A number in a response. Numbers that JSON does not have are text: `NaN`, `Infinity`, `-Infinity`. */
export const JsonNumber = z.union([z.number(), z.enum(named)]);
export type JsonNumber = z.infer<typeof JsonNumber>;

/** A number in a request: a JSON number, or one of these texts. */
export const NumberParameter = z.union([z.number(), z.enum(named).transform(Number)], {
  error: 'must be a number, or one of NaN, Infinity and -Infinity as text',
});

/** Convert a number for a response. */
export const jsonNumber = (value: number): JsonNumber =>
  Number.isFinite(value) ? value : (named.find((name) => Object.is(Number(name), value)) ?? 'NaN');
