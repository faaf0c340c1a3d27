import * as z from 'zod';

/** The pattern of a server-made id, for expressions that contain more than one id. */
export const ulidPattern = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** A server-made id: a ULID in lower case. Ids sort by creation time. */
export const Ulid = z
  .string()
  .regex(new RegExp(`^${ulidPattern}$`), 'is not an id of this service (26 lower-case letters and digits)');

/** A file name that serves as the id of a configuration, data set or model. */
export const FileId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'must start with a letter or digit and hold at most 128 letters, digits, dots, underscores and hyphens',
  );

/** SHA-256 digest in lower-case hexadecimal. */
export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest: 64 lower-case hexadecimal digits');

const instantRule = 'must be an instant with its offset, such as 2026-01-31T12:00:00.000Z';

/** An instant, ISO 8601 UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/** Convert milliseconds since 1970 to a {@link Timestamp}. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** An instant as clients send it: with any precision and offset. */
export const Instant = z.iso
  .datetime({ offset: true, error: instantRule })
  .transform((text) => new Date(text).toISOString())
  // The offset can move the instant beyond the four-digit years.
  .pipe(z.iso.datetime({ precision: 3, error: instantRule }));
