import * as z from 'zod';
import { measures } from './measure.ts';

type Kind = keyof typeof valueSchemas;

/**
 * A parameter of the strategies of one operation. Queries, flags, records, answers and documents derive their
 * forms from it. The strategy's entry lists the values that the strategy accepts.
 */
export interface Parameter {
  kind: Kind;
  description: string;
  /** A sentence that says how to write the parameter in a query. */
  usage: string;
  /** For a text: all values that at least one strategy accepts. */
  values?: readonly string[];
  /** For an integer: bounds that hold for every strategy. */
  bounds?: readonly [least: number, most: number];
  /**
   * Whether a request must give the parameter (`isRequired`), or its default if all strategies share it
   * (`otherwise`).
   */
  isRequired?: boolean;
  otherwise?: boolean | number | string;
  /** Value of this parameter in records that are older than the parameter and lack it. */
  before?: boolean | number | string | null;
}

export type Parameters = Readonly<Record<string, Parameter>>;

type Value<K extends Kind> = z.output<ReturnType<(typeof valueSchemas)[K]>>;

/** Value types of all parameters of an operation. */
export type ValuesOf<P extends Parameters> = {
  [N in keyof P]: P[N] extends { values: readonly (infer V)[] } ? V : Value<P[N]['kind']>;
};

type SchemasOf<P extends Parameters> = {
  [N in keyof P]: P[N] extends { values: readonly (infer V extends string)[] }
    ? z.ZodEnum<{ [name in V]: name }>
    : ReturnType<(typeof valueSchemas)[P[N]['kind']]>;
};

/** Value schemas by parameter kind, for records and answers. */
const valueSchemas = {
  integer: () => z.number().int(),
  positive: () => z.number().nullable(),
  boolean: () => z.boolean(),
  text: () => z.string(),
  names: () => z.array(z.string()),
};

/** Return the value schemas of all parameters of an operation, for records and answers. */
export function valueSchemasOf<P extends Parameters>(parameters: P): SchemasOf<P>;
export function valueSchemasOf(parameters: Parameters): z.ZodRawShape {
  const schemas = Object.entries(parameters).map(([name, { kind, values, before }]) => {
    const schema: z.ZodType = values === undefined ? valueSchemas[kind]() : z.enum(values);
    return [name, before === undefined ? schema : z.prefault(schema, before)];
  });
  return Object.fromEntries(schemas);
}

/** Maximum number of entries in a list of nodes or operators. */
const maxNames = 1000;

/** Names of nodes or types of operators. */
export const names = z
  .array(z.string().min(1, 'contains an empty name').max(512, 'contains a name of more than 512 characters'))
  .max(maxNames, `has more than ${maxNames} entries`);

/** Return a schema for a whole number within bounds. */
export function wholeNumber([least, most]: readonly [number, number]): z.ZodInt {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
}

/** Return a boolean schema if the strategy leaves the choice open, otherwise a schema that only accepts false. */
export const choice = (isOpen: boolean, otherwise: boolean, message: string) =>
  isOpen ? z.boolean('must be true or false').default(otherwise) : z.literal(false, message).default(false);

type CommonName = 'exclude' | 'max_error' | 'seed' | 'measure' | 'keep_metadata';

/** Return the rules of the parameters that are the same for every strategy. */
export const commonRules = ({
  exclude,
  max_error,
  seed,
  measure,
  keep_metadata,
}: Record<CommonName, { description: string }>) => ({
  exclude: names.default([]).describe(exclude.description),
  max_error: z
    .number('must be a number')
    .positive('must be above 0')
    .nullable()
    .default(null)
    .describe(max_error.description),
  seed: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(2 ** 32 - 1, `must be at most ${2 ** 32 - 1}`)
    .default(0)
    .describe(seed.description),
  measure: z
    .enum(measures, `must be one of ${measures.join(', ')}`)
    .default('quick')
    .describe(measure.description),
  keep_metadata: z.boolean('must be true or false').default(false).describe(keep_metadata.description),
});

/** A value that the request's strategy does not allow. The message names the allowed values. */
export interface ValueFault {
  name: string;
  message: string;
}

/** A valid request, or all its errors. */
export type Checked<T> = { request: T } | { faults: ValueFault[] };

/** Check values against the schema of one strategy. Report the first error of each value. */
export function checkValues<S extends z.ZodObject>(
  schema: S,
  values: Readonly<Record<string, unknown>>,
): Checked<z.output<S>> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { request: parsed.data };
  const faults = parsed.error.issues.flatMap((issue): ValueFault[] => {
    if (issue.code === 'unrecognized_keys') {
      const taken = Object.keys(schema.shape).filter((name) => name !== 'operation');
      return issue.keys.map((name) => ({ name, message: `is not one of ${taken.join(', ')}` }));
    }
    return [{ name: String(issue.path[0] ?? ''), message: issue.message }];
  });
  return {
    faults: faults.filter((fault, index) => faults.findIndex(({ name }) => name === fault.name) === index),
  };
}
