import * as z from 'zod';

/** Message about a number that would be kept as another one. */
export const inexactMessage =
  'must not be a whole number beyond 9007199254740991 (2^53 - 1) in magnitude, because it is not kept exactly';

/**
 * Whether a number is what was written. Whole numbers of 64 bits, such as ids and seeds, lose their last digits beyond
 * 2^53 - 1. Greater ones are taken for powers of ten.
 */
const isExact = (value: number): boolean =>
  !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) > 2 ** 64;

/** Refuse a number that would be kept as another one, among values of other types. */
export const exactly = <S extends z.ZodType>(schema: S): S =>
  schema.refine((value) => typeof value !== 'number' || isExact(value), inexactMessage);

/** A number in a request that is kept exactly. */
export const ExactNumber = exactly(z.number('must be a number'));

/** A single value of a configuration or of a flag. */
export const ExactScalar = exactly(
  z.union([z.string().max(4000), z.number(), z.boolean()], {
    error: 'must be a text, a number, true or false',
  }),
);
