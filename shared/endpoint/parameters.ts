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

function printable(limit: number, forbidden: RegExp): z.ZodString {
  return z
    .string()
    .max(limit, `is longer than ${limit} characters`)
    .refine((value) => !forbidden.test(value), 'holds a control character');
}

function text(limit: number, forbidden: RegExp): z.ZodString {
  return printable(limit, forbidden)
    .min(1, 'is blank')
    .refine((value) => value.length === 0 || value.trim().length > 0, 'is blank');
}

/** One line of text that people read: not blank, at most `limit` characters (UTF-16 units). */
export const line = (limit: number): z.ZodString => text(limit, unprintable);

/** Text that may run over several lines: not blank, at most `limit` characters (UTF-16 units). */
export const paragraph = (limit: number): z.ZodString => text(limit, unprintableButLineBreaks);

/** The same, and may be blank. */
export const paragraphOrBlank = (limit: number): z.ZodString => printable(limit, unprintableButLineBreaks);

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

/** A decimal number given as text in a query or form. */
export function decimal(least: number, most: number) {
  const message = `must be a number from ${least} to ${most}`;
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^[+-]?\d{1,15}(\.\d{1,15})?$/, message)
          .transform(Number),
      ],
      {
        error: message,
      },
    )
    .pipe(z.number().min(least, message).max(most, message))
    .meta({ type: 'number', minimum: least, maximum: most });
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
