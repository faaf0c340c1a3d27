import { posix } from 'node:path';
import * as z from 'zod';
import { text } from './scalars.ts';

/** Longest name of a metric, param or tag, in characters. */
const nameMost = 250;
const characters = /^[/\p{L}\p{N}\p{M}_.\- :]*$/u;

const isPathOfItself = (name: string): boolean =>
  posix.normalize(name) === name && name !== '.' && !name.startsWith('..') && !name.startsWith('/');

/** Name of a metric, param or tag, by the rules of MLflow's own server. */
export const trackedName = text
  .min(1)
  .refine((name) => [...name].length <= nameMost, `exceeds the maximum length of ${nameMost} characters`)
  .refine(
    (name) => characters.test(name),
    'Names may only contain alphanumerics, underscores (_), dashes (-), periods (.), spaces ( ), colon(:) and slashes (/).',
  )
  .refine(
    isPathOfItself,
    'Names may be treated as files in certain cases, and must not resolve to other names when treated as such.',
  );

const plain = /^\w[\w :-]*(?:[./]\w[\w :-]*)*$/;

/** Whether a name is as most are, in ASCII: what this takes {@link trackedName} takes, in twenty times the time. */
export const isPlainName = (name: string): boolean => name.length <= nameMost && plain.test(name);

/** A tag or param as it is sent. */
export const namedValue = z.object({ key: trackedName, value: text.default('') });
