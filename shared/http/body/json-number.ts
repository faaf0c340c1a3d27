import * as z from 'zod';

const named = ['NaN', 'Infinity', '-Infinity'] as const;

/** A number of an answer, those that JSON has no word for as text: `NaN`, `Infinity`, `-Infinity`. */
export const JsonNumber = z.union([z.number(), z.enum(named)]);
export type JsonNumber = z.infer<typeof JsonNumber>;

/** The same of a request. */
export const NumberParameter = z.union([z.number(), z.enum(named).transform(Number)], {
  error: 'must be a number, or one of NaN, Infinity and -Infinity as text',
});

/** A number as an answer shows it. */
export const jsonNumber = (value: number): JsonNumber =>
  Number.isFinite(value) ? value : (named.find((name) => Object.is(Number(name), value)) ?? 'NaN');
