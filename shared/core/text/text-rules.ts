import * as z from 'zod';

// Names must not contain C0 and C1 controls, lone surrogates or bidirectional overrides.
const unprintable = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;
const unprintableButLineBreaks = /(?![\n\r\t])[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;

/** Characters that `trim` removes and no rule forbids, for use in a character class. */
const spaces = String.raw` \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF`;
/** The characters of `unprintable` without surrogates, in a syntax that every dialect of JSON Schema supports. */
const controls = String.raw`\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069`;
const controlsButLineBreaks = String.raw`\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069`;

/** Patterns of the rules below, for the OpenAPI document. Error messages come from the rules themselves. */
const patterns = {
  line: `^[${spaces}]*[^${spaces}${controls}][^${controls}]*$`,
  paragraph: String.raw`^[\t\n\r${spaces}]*[^\t\n\r${spaces}${controlsButLineBreaks}][^${controlsButLineBreaks}]*$`,
  paragraphOrBlank: `^[^${controlsButLineBreaks}]*$`,
};

/** Whether a text has at most `limit` characters. Counts code points, as JSON Schema does. */
function isWithin(value: string, limit: number): boolean {
  return value.length <= limit || (value.length <= 2 * limit && [...value].length <= limit);
}

function printable(limit: number, forbidden: RegExp): z.ZodString {
  return z
    .string()
    .refine((value) => isWithin(value, limit), `is longer than ${limit} characters`)
    .refine((value) => !forbidden.test(value), 'contains a control character');
}

function text(limit: number, forbidden: RegExp): z.ZodString {
  return printable(limit, forbidden)
    .min(1, 'is blank')
    .refine((value) => value.length === 0 || value.trim().length > 0, 'is blank');
}

/** One line of text for people: not blank, at most `limit` characters (code points). */
export const line = (limit: number): z.ZodString =>
  text(limit, unprintable).meta({ maxLength: limit, pattern: patterns.line });

/** Text of one or several lines: not blank, at most `limit` characters (code points). */
export const paragraph = (limit: number): z.ZodString =>
  text(limit, unprintableButLineBreaks).meta({ maxLength: limit, pattern: patterns.paragraph });

/** As {@link paragraph}, but may be blank. */
export const paragraphOrBlank = (limit: number): z.ZodString =>
  printable(limit, unprintableButLineBreaks).meta({ maxLength: limit, pattern: patterns.paragraphOrBlank });
