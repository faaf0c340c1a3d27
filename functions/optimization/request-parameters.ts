import * as z from 'zod';
import { decimalAbove, FileId, integer } from '../../shared/endpoint/parameters.ts';
import { meanings } from '../../shared/onnx/methods/meanings.ts';
import { sizeBounds } from '../projects/job-size.ts';

/** Names separated by commas. */
export const names = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .meta({ type: 'string' });

/** One of these values. Others are refused with all that is wrong with the combination, not here. */
export const named = (values: readonly string[]) => z.string().meta({ type: 'string', enum: [...values] });

export const modelName = FileId.describe('Name of the model, such as `digits.onnx`.');

/** Query parameters of every method; `maxError` says what is done with that bound. */
export const methodParameters = (maxError: string) => ({
  exclude: names
    .optional()
    .describe(`${meanings.exclude} Separated by commas, such as \`Softmax,/head/MatMul\`.`),
  max_error: decimalAbove(0, 1_000_000)
    .optional()
    .describe(`${maxError} A number above 0, such as \`0.05\` or \`1e-3\`.`),
  seed: integer(0, 2 ** 32 - 1)
    .optional()
    .describe(`${meanings.seed} A whole number, such as \`42\`; 0 without it.`),
});

/** Query parameters of every strategy that say nothing of its method. */
export const jobParameters = {
  result_name: FileId.optional().describe(
    'Name under which the result becomes a model of its own, such as `digits-small.onnx`; it must not be taken.',
  ),
  vcpus: sizeBounds.vcpus
    .optional()
    .describe('vCPUs of the job, such as `4`; 2 with 4096 MiB where neither is given.'),
  memory: sizeBounds.memory
    .optional()
    .describe('Memory of the job in MiB, such as `8192`; without it the least that goes with `vcpus`.'),
  timeout: sizeBounds.timeout
    .optional()
    .describe('Seconds after which an attempt is stopped, such as `3600`, which is the default.'),
};
