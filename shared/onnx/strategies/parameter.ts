import * as z from 'zod';

/** Schemas of the values of a parameter, by its kind: as records keep them and as answers show them. */
const valueSchemas = {
  integer: () => z.number().int(),
  positive: () => z.number().nullable(),
  boolean: () => z.boolean(),
  text: () => z.string(),
  names: () => z.array(z.string()),
};

type Kind = keyof typeof valueSchemas;
type Value<K extends Kind> = z.output<ReturnType<(typeof valueSchemas)[K]>>;

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

/** The values of all parameters of an operation. */
export type ValuesOf<P extends Parameters> = {
  [N in keyof P]: P[N] extends { values: readonly (infer V)[] } ? V : Value<P[N]['kind']>;
};

type SchemasOf<P extends Parameters> = {
  [N in keyof P]: P[N] extends { values: readonly (infer V extends string)[] }
    ? z.ZodEnum<{ [name in V]: name }>
    : ReturnType<(typeof valueSchemas)[P[N]['kind']]>;
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
