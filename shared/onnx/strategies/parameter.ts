import * as z from 'zod';
import { measures } from './measure.ts';

type Kind = keyof typeof valueSchemas;

/**
 * A parameter of the strategies of one operation. Its forms in queries, flags, records, answers and documents are
 * made from this. The strategy's entry has the values that it takes.
 */
export interface Parameter {
  kind: Kind;
  description: string;
  /** How to write it in a query, in a sentence. */
  usage: string;
  /** Values that some strategy takes, of a text. */
  values?: readonly string[];
  /** Bounds within which every strategy's values lie, of an integer. */
  bounds?: readonly [least: number, most: number];
  /** Whether a request must give it, or the value without it where that is the same for every strategy. */
  isRequired?: boolean;
  otherwise?: boolean | number | string;
  /** What records mean that do not have it, because they are older than the parameter. */
  before?: boolean | number | string | null;
}

export type Parameters = Readonly<Record<string, Parameter>>;

type Value<K extends Kind> = z.output<ReturnType<(typeof valueSchemas)[K]>>;

/** The values of all parameters of an operation. */
export type ValuesOf<P extends Parameters> = {
  [N in keyof P]: P[N] extends { values: readonly (infer V)[] } ? V : Value<P[N]['kind']>;
};

type SchemasOf<P extends Parameters> = {
  [N in keyof P]: P[N] extends { values: readonly (infer V extends string)[] }
    ? z.ZodEnum<{ [name in V]: name }>
    : ReturnType<(typeof valueSchemas)[P[N]['kind']]>;
};

/** Schemas of the values of a parameter, by its kind: as records keep them and as answers show them. */
const valueSchemas = {
  integer: () => z.number().int(),
  positive: () => z.number().nullable(),
  boolean: () => z.boolean(),
  text: () => z.string(),
  names: () => z.array(z.string()),
};

/** Schemas of the values of all parameters of an operation, for records and answers. */
export function valueSchemasOf<P extends Parameters>(parameters: P): SchemasOf<P>;
export function valueSchemasOf(parameters: Parameters): z.ZodRawShape {
  const schemas = Object.entries(parameters).map(([name, { kind, values, before }]) => {
    const schema: z.ZodType = values === undefined ? valueSchemas[kind]() : z.enum(values);
    return [name, before === undefined ? schema : z.prefault(schema, before)];
  });
  return Object.fromEntries(schemas);
}

/** Most entries of a list of nodes or operators. */
const maxNames = 1000;

/** Names of nodes or types of operators. */
export const names = z
  .array(z.string().min(1, 'holds an empty name').max(512, 'holds a name of more than 512 characters'))
  .max(maxNames, `has more than ${maxNames} entries`);

/** A whole number within bounds. */
export function wholeNumber([least, most]: readonly [number, number]): z.ZodInt {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
}

/** A choice that a strategy leaves open, or that is settled as false. */
export const choice = (isOpen: boolean, otherwise: boolean, message: string) =>
  isOpen ? z.boolean('must be true or false').default(otherwise) : z.literal(false, message).default(false);

type CommonName = 'exclude' | 'max_error' | 'seed' | 'measure';

/** Rules of the parameters that every strategy has alike. */
export const commonRules = ({
  exclude,
  max_error,
  seed,
  measure,
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
});

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
