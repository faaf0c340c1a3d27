import * as z from 'zod';
import { Timestamp } from '../../../shared/core/formats.ts';
import type { StoredVariable, Variables } from '../../../shared/data/projects/variable.ts';
import { maxVariables, VariableName, VariableValue } from '../../../shared/data/projects/variable-rules.ts';
import { flag, projectPath } from '../../../shared/http/definition/parameters.ts';

/** Path parameters of every operation on one variable. */
export const variablePath = projectPath.extend({
  name: VariableName.describe('Name of the environment variable.'),
});

/** A variable in a response. */
export const VariableAnswer = z
  .object({
    name: z.string(),
    secret: z.boolean(),
    /** Null for a secret. */
    value: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Variable' });

export const showVariable = ({
  name,
  value,
  sealed,
  created_at,
  updated_at,
}: StoredVariable): z.input<typeof VariableAnswer> => ({
  name,
  secret: sealed !== null,
  value,
  created_at,
  updated_at,
});

/** All variables of a project, by name. */
export const showVariables = ({ variables }: Variables): z.input<typeof VariableAnswer>[] =>
  variables.map(showVariable);

/** Maximum number of bytes of a body with all variables. Each character may be a six-byte escape. */
export const variablesMaxBytes = 512 * 1024;

const secret = flag
  .default(true)
  .describe('Whether the value is hidden from all users. `false` lets viewers read it.');

/** Body that sets one variable. */
export const VariableBody = z.strictObject({ value: VariableValue, secret });

/** Body that sets all variables. A variable without a value keeps its current value. */
export const VariablesBody = z.strictObject({
  variables: z
    .array(z.strictObject({ name: VariableName, value: VariableValue.optional(), secret }))
    .max(maxVariables, `has more than ${maxVariables} variables`)
    .describe('All variables of the project. A variable without `value` keeps its value.'),
});
