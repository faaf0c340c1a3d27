import type * as z from 'zod';

/** One value of a request that its strategy does not allow, and what is allowed instead. */
export interface ValueFault {
  name: string;
  message: string;
}

/** A valid request, or all its errors. */
export type Checked<T> = { request: T } | { faults: ValueFault[] };

/** Check values by the schema of one strategy, with the first error of each. */
export function checkValues<S extends z.ZodObject>(
  schema: S,
  values: Readonly<Record<string, unknown>>,
): Checked<z.output<S>> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { request: parsed.data };
  const faults = parsed.error.issues.flatMap((issue): ValueFault[] => {
    if (issue.code === 'unrecognized_keys') {
      const taken = Object.keys(schema.shape).filter((name) => name !== 'operation');
      return issue.keys.map((name) => ({ name, message: `is none of ${taken.join(', ')}` }));
    }
    return [{ name: String(issue.path[0] ?? ''), message: issue.message }];
  });
  return {
    faults: faults.filter((fault, index) => faults.findIndex(({ name }) => name === fault.name) === index),
  };
}
