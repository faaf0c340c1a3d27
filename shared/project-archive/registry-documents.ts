import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { line } from '../core/text/text-rules.ts';
import { versionStages } from '../data/models/registered-model.ts';
import {
  aliasPattern,
  isPlainAddress,
  isRemoteAddress,
  maxAlias,
  maxRegisteredName,
  newestAlias,
  refusedInName,
  versionAlias,
} from '../data/rules/model.ts';

// What an archive has of the model registry. Ids of the service stand in none of its texts but by references.

const long = z.string().max(700_000);
const texts = z.record(z.string().max(1000), long);
const versionNumber = z.number().int().min(1).max(999_999_999);
const alias = z
  .string()
  .min(1)
  .max(maxAlias)
  .regex(aliasPattern)
  .refine((value) => !versionAlias.test(value) && value.toLowerCase() !== newestAlias);

/** `registry/<number>/model.json`: a name of the model registry under which versions of the project are. */
export const RegisteredDocument = z.strictObject({
  name: z
    .string()
    .max(maxRegisteredName)
    .refine((name) => name.trim() !== '' && !refusedInName.test(name)),
  description: long,
  tags: texts,
  /** Versions by alias, of those that are contained. */
  aliases: z.record(alias, versionNumber),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type RegisteredDocument = z.infer<typeof RegisteredDocument>;

/** A line of `registry/<number>/versions.ndjson`, in the order of their numbers. */
export const VersionDocument = z.strictObject({
  number: versionNumber,
  description: long,
  /** Name of the user who made it. */
  user: line(64),
  source: long.refine((source) => source.startsWith('models:/') || isRemoteAddress(source)),
  location: long.refine((location) => isRemoteAddress(location) && isPlainAddress(location)),
  run_id: long,
  run_link: long,
  model_id: long,
  stage: z.enum(versionStages),
  tags: texts,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type VersionDocument = z.infer<typeof VersionDocument>;
