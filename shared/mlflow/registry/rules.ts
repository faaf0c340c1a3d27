import * as z from 'zod';
import {
  aliasPattern,
  maxAlias,
  maxRegisteredName,
  newestAlias,
  RegistryDescription,
  RegistryTag,
  refusedInName,
  versionAlias,
} from '../../data/experiments/logged-model-rules.ts';
import { namedValue, text } from '../protocol/scalars.ts';

export const modelName = text
  .refine((name) => name.trim() !== '', 'Registered model name cannot be empty.')
  .refine(
    (name) => name.length <= maxRegisteredName,
    `exceeds the maximum length of ${maxRegisteredName} characters`,
  )
  .refine((name) => !refusedInName.test(name), "Names cannot contain '/' or ':'.");

/** A model name for a lookup. It need not be a valid name for a new model, but as short: it is part of a key. */
export const knownName = text.min(1).max(maxRegisteredName);

export const alias = text
  .min(1)
  .refine((value) => value.length <= maxAlias, `exceeds the maximum length of ${maxAlias} characters`)
  .refine(
    (value) => aliasPattern.test(value),
    'Names may only contain alphanumerics, underscores (_), and dashes (-).',
  )
  .refine((value) => !versionAlias.test(value), "Version aliases (e.g. 'v9') are reserved.")
  .refine(
    (value) => value.toLowerCase() !== newestAlias,
    "'latest' alias name (case insensitive) is reserved.",
  );

export const tag = namedValue.extend({
  value: text.pipe(RegistryTag).default(''),
});
export const tags = z.array(tag).default([]);
export const description = text.pipe(RegistryDescription).default('');
export const tagRecord = (sent: readonly { key: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(sent.map(({ key, value }) => [key, value]));
