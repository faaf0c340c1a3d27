import * as z from 'zod';
import { meanings } from './meanings.ts';

/** Most entries of a list of nodes or operators. */
const namesMost = 1000;

/** Names of nodes or types of operators. */
export const names = z
  .array(z.string().min(1, 'holds an empty name').max(512, 'holds a name of more than 512 characters'))
  .max(namesMost, `has more than ${namesMost} entries`);

export const exclude = names.default([]).describe(meanings.exclude);

export const maxError = (description: string) =>
  z.number('must be a number').positive('must be above 0').nullable().default(null).describe(description);

/** Of everything that is drawn by chance: synthetic inputs, and the choice of `random`. */
export const seed = z
  .int('must be a whole number')
  .min(0, 'must be 0 or more')
  .max(2 ** 32 - 1, `must be at most ${2 ** 32 - 1}`)
  .default(0)
  .describe(meanings.seed);

/** A choice that a method leaves open, or that is settled as false. */
export const choice = (isOpen: boolean, otherwise: boolean, message: string) =>
  isOpen ? z.boolean('must be true or false').default(otherwise) : z.literal(false, message).default(false);
