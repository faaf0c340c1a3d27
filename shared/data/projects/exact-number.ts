import * as z from 'zod';
import { isTableNumber } from '../table/stored-number.ts';

/** Message about a number that would be kept as another one. */
const inexact =
  'must be a number of at most 9007199254740991 (2^53 - 1) in magnitude, because a greater one is not kept exactly';

/** Refuse a number that the table does not keep, among values of other types. */
export const exactly = <S extends z.ZodType>(schema: S): S =>
  schema.refine((value) => typeof value !== 'number' || isTableNumber(value), inexact);

/** A number in a request that is kept exactly. */
export const ExactNumber = exactly(z.number('must be a number'));

/** A single value of a configuration or of a flag. */
export const ExactScalar = exactly(
  z.union([z.string().max(4000), z.number(), z.boolean()], {
    error: 'must be a text, a number, true or false',
  }),
);
