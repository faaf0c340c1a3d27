import * as z from 'zod';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { NoteText } from '../../../shared/data/experiments/tracking-rules.ts';
import { changedTags, ExperimentName, Tags } from '../../../shared/experiments/field-rules.ts';

/** Query parameters with what a user says about a training. */
export const trackedParameters = {
  name: ExperimentName.optional().describe(
    'Display name; need not be unique. Default: that of the configuration with a number.',
  ),
  note: NoteText.optional().describe(
    'Markdown. A URL takes about 8,000 bytes; longer notes can be set later.',
  ),
  tags: z
    .string()
    .transform((text, context) => {
      const parsed = Tags.safeParse(tryParseJson(text));
      if (parsed.success) return changedTags({}, parsed.data);
      const faults = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
      // A query parameter has one message for all its faults.
      context.addIssue({ code: 'custom', message: `${faults.join('; ')}. ${example}` });
      return z.NEVER;
    })
    .optional()
    .describe('Tags, as a JSON object, such as `{"stage":"baseline"}`.'),
};

const example = 'Example: {"stage":"baseline"}';

/** What the audit keeps of a request that begins a training. */
export const auditedParameters = [
  'config',
  'nodes',
  'vcpus',
  'memory',
  'gpus',
  'timeout',
  'capacity',
  'dataset',
  'budget',
  'name',
] as const;
