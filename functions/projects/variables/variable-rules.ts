import * as z from 'zod';
import { maxVariables, VariableName, VariableValue } from '../../../shared/data/rules/variable.ts';
import { flag } from '../../../shared/http/definition/parameters.ts';

/** Most bytes of a body with all variables, each character of which may be written as an escape of six bytes. */
export const variablesMaxBytes = 512 * 1024;

const secret = flag
  .default(true)
  .describe('Whether nobody may read the value again. `false` makes a variable that viewers can read.');

/** The body that sets one variable. */
export const VariableBody = z.strictObject({ value: VariableValue, secret });

/** The body that sets all variables. One without a value keeps the value that it has. */
export const VariablesBody = z.strictObject({
  variables: z
    .array(z.strictObject({ name: VariableName, value: VariableValue.optional(), secret }))
    .max(maxVariables, `has more than ${maxVariables} variables`)
    .describe('All variables of the project. One without `value` keeps the value that it has.'),
});
