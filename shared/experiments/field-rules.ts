import * as z from 'zod';
import { badRequest } from '../core/service-error.ts';
import { bytesOfFields, type ExperimentFields, fieldsMaxBytes } from '../data/experiments/tracking.ts';
import {
  GitRule,
  maxParam,
  ExperimentName as NameRule,
  NoteText,
  ParamText,
  TagText,
  TrackedName,
} from '../data/experiments/tracking-rules.ts';

export const ExperimentName = NameRule.describe('Display name; need not be unique.');
export const Note = NoteText.nullable()
  .describe('Markdown; `null` removes it.')
  .meta({ ...NoteText.meta(), type: ['string', 'null'] });
export const Tags = z
  .record(TrackedName, TagText.nullable())
  .describe('Tags to set, such as `{"stage": "baseline"}`. `null` removes a tag. Other tags stay.');

/** Clients may send a param as a number or boolean. */
const ParamValue = z.union([ParamText, z.number().transform(String), z.boolean().transform(String)], {
  error: `must be a text of at most ${maxParam} characters, a number or a boolean`,
});
export const Params = z
  .record(TrackedName, ParamValue)
  .describe('Params by name, such as `{"lr": 0.01}`; kept as text, numbers as they are written.');

export const GitState = z
  .strictObject({
    commit: GitRule.shape.commit,
    branch: GitRule.shape.branch.default(null),
    dirty: GitRule.shape.dirty.default(null),
  })
  .describe("State of the program's repository.");

/** Maximum bytes of a body with all fields that an experiment may have, with every character escaped. */
export const fieldsBodyMaxBytes = 1_000_000;

/** Return the tags after a change. */
export function changedTags(
  tags: Readonly<Record<string, string>>,
  change: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const changed = new Map(Object.entries(tags));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  return Object.fromEntries(changed);
}

/**
 * Refuse fields that exceed the size limit. Long texts of data sets have a limit of their own.
 * @throws ServiceError `bad-request` that names `parameter`
 */
export function requireRoom(fields: ExperimentFields, parameter: string): ExperimentFields {
  const bytes = bytesOfFields(fields);
  if (bytes <= fieldsMaxBytes) return fields;
  const message = `brings note, tags, params and names of data sets and models to ${bytes} bytes together; at most ${fieldsMaxBytes} are allowed`;
  throw badRequest([{ in: 'body', name: parameter, message }]);
}
