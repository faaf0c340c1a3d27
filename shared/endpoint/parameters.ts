import * as z from 'zod';

/** A server-made id: a ULID in lower case, so that ids sort by creation. */
export const Ulid = z
  .string()
  .regex(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/, 'is not an id of this service (26 lower-case letters and digits)');

/** A file name used as an id: configurations, data sets and models. */
export const FileId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'must start with a letter or digit and hold at most 128 letters, digits, dots, underscores and hyphens',
  );

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

/** A whole number given as text in a query or form. */
export function integer(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^[+-]?\d{1,15}$/, message)
          .transform(Number),
      ],
      { error: message },
    )
    .pipe(z.number().int(message).min(least, message).max(most, message))
    .meta({ type: 'integer', minimum: least, maximum: most });
}

/** A finite decimal number as JSON or Python write it (`1e-06`, `.5`, `5.`), with an optional sign. */
const decimalPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const decimalText = (message: string, rule: z.ZodNumber) =>
  z
    .union([z.number(), z.string().regex(decimalPattern, message).transform(Number)], { error: message })
    .pipe(rule);

/** A decimal number given as text in a query or form. */
export function decimal(least: number, most: number) {
  const message = `must be a number from ${least} to ${most}`;
  return decimalText(message, z.number(message).min(least, message).max(most, message)).meta({
    type: 'number',
    minimum: least,
    maximum: most,
  });
}

/** The same, above a bound that is itself refused. */
export function decimalAbove(bound: number, most: number) {
  const message = `must be a number above ${bound}, at most ${most}`;
  return decimalText(message, z.number(message).gt(bound, message).max(most, message)).meta({
    type: 'number',
    exclusiveMinimum: bound,
    maximum: most,
  });
}

/** `true` or `false` given as text in a query or form. */
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false', 'True', 'False', '1', '0'])], {
    error: 'must be true or false',
  })
  .transform((value) => value === true || value === 'true' || value === 'True' || value === '1')
  .meta({ type: 'boolean' });

/** SHA-256 digest in lower-case hexadecimal. */
export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest: 64 lower-case hexadecimal digits');

/** An instant, ISO 8601 UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });
