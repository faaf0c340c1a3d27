import type * as z from 'zod';
import type { OutputSpec } from './endpoint-output.ts';
import type { AnyEndpoint } from './exchange.ts';

/** Status of an endpoint's success that is not a redirect. */
export function successStatus(output: OutputSpec): 200 | 201 {
  return output[201] === undefined ? 200 : 201;
}

/** Schema of the JSON that an endpoint answers. */
export function jsonSchema({ name, output }: Pick<AnyEndpoint, 'name' | 'output'>): z.ZodType {
  const declared = output[successStatus(output)];
  const schema = declared !== undefined && 'kind' in declared ? declared.json : declared;
  if (schema === undefined) throw new Error(`${name} answers JSON but declares none`);
  return schema;
}
