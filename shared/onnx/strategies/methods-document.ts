import * as z from 'zod';

/** A JSON Schema (2020-12) of requests. */
interface MethodSchema {
  $schema: string;
  title: string;
  anyOf: Record<string, unknown>[];
}

/** A JSON Schema (2020-12) of which each `anyOf` is one allowed combination, as a caller sends it. */
export function methodSchema(title: string, methods: readonly z.ZodObject[]): MethodSchema {
  const anyOf = methods.map((method) => {
    const made = z.toJSONSchema(method, { io: 'input', target: 'draft-2020-12' });
    // Which operation it is, the path of a request says.
    const { $schema: _, properties: { operation: _operation, ...properties } = {}, ...schema } = made;
    return { ...schema, properties };
  });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, anyOf };
}
