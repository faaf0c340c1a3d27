import type * as z from 'zod';

/** One value of a request that its method does not allow, and what is allowed instead. */
export interface MethodFault {
  name: string;
  message: string;
}

/** A request that can be done, or everything that is wrong with it. */
export type Judged<T> = { request: T } | { faults: MethodFault[] };

/** Judges values by the schema of one method, naming the first fault of each. */
export function judge<S extends z.ZodObject>(
  schema: S,
  values: Readonly<Record<string, unknown>>,
): Judged<z.output<S>> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { request: parsed.data };
  const faults = parsed.error.issues.flatMap((issue): MethodFault[] => {
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
