import * as z from 'zod';
import { Timestamp } from '../../../shared/core/formats.ts';
import type { StoredVariable, Variables } from '../../../shared/data/projects/variable.ts';
import { VariableName } from '../../../shared/data/rules/variable.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';

/** Path parameters of one variable. */
export const variablePath = projectPath.extend({
  name: VariableName.describe('Name of the environment variable.'),
});

/** A variable as every operation answers it. */
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
