import * as z from 'zod';

// C0 and C1 controls, lone surrogates and bidirectional overrides have no place in names that people read.
const unprintable = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;
const unprintableButLineBreaks = /(?![\n\r\t])[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u;

/** What `trim` takes away and no rule forbids, as the inside of a character class. */
const spaces = String.raw` \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF`;
/** The characters of `unprintable`, but for surrogates, in words that every dialect of JSON Schema knows. */
const controls = String.raw`\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069`;
const controlsButLineBreaks = String.raw`\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069`;

/** Patterns of the rules below, for the document: the rules themselves say what is wrong. */
const patterns = {
  line: `^[${spaces}]*[^${spaces}${controls}][^${controls}]*$`,
  paragraph: String.raw`^[\t\n\r${spaces}]*[^\t\n\r${spaces}${controlsButLineBreaks}][^${controlsButLineBreaks}]*$`,
  paragraphOrBlank: `^[^${controlsButLineBreaks}]*$`,
};

/** Whether a text has at most `limit` characters: code points, as JSON Schema counts them. */
function isWithin(value: string, limit: number): boolean {
  return value.length <= limit || (value.length <= 2 * limit && [...value].length <= limit);
}

function printable(limit: number, forbidden: RegExp): z.ZodString {
  return z
    .string()
    .refine((value) => isWithin(value, limit), `is longer than ${limit} characters`)
    .refine((value) => !forbidden.test(value), 'holds a control character');
}

function text(limit: number, forbidden: RegExp): z.ZodString {
  return printable(limit, forbidden)
    .min(1, 'is blank')
    .refine((value) => value.length === 0 || value.trim().length > 0, 'is blank');
}

/** One line of text that people read: not blank, at most `limit` characters (code points). */
export const line = (limit: number): z.ZodString =>
  text(limit, unprintable).meta({ maxLength: limit, pattern: patterns.line });

/** Text that may run over several lines: not blank, at most `limit` characters (code points). */
export const paragraph = (limit: number): z.ZodString =>
  text(limit, unprintableButLineBreaks).meta({ maxLength: limit, pattern: patterns.paragraph });

/** The same, and may be blank. */
export const paragraphOrBlank = (limit: number): z.ZodString =>
  printable(limit, unprintableButLineBreaks).meta({ maxLength: limit, pattern: patterns.paragraphOrBlank });
