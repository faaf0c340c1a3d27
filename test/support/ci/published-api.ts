import { readFile } from 'node:fs/promises';
import { Ajv, type ValidateFunction } from 'ajv';

interface Schema {
  [keyword: string]: unknown;
}

interface Operation {
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  body: Schema | null;
  responses: Record<string, Schema | null>;
}

/** What a provider publishes about some of its operations: checks requests and answers, and makes answers up. */
export class PublishedApi {
  readonly #operations: Readonly<Record<string, Operation>>;
  readonly #checks = new Map<Schema, ValidateFunction>();
  readonly #ajv = new Ajv({ strict: false, validateFormats: false, coerceTypes: true });
  /** What was sent or answered against the schemas. */
  readonly faults: string[] = [];

  constructor(operations: Readonly<Record<string, Operation>>) {
    this.#operations = operations;
  }

  static async read(name: string): Promise<PublishedApi> {
    const path = new URL(`../../fixtures/ci/${name}.json`, import.meta.url);
    return new PublishedApi(JSON.parse(await readFile(path, 'utf8')).operations);
  }

  /** Find the operation of a request, and check its query and its body. */
  match(method: string, url: URL, body: unknown): { name: string; path: Record<string, string> } | undefined {
    for (const [name, operation] of Object.entries(this.#operations)) {
      const [verb, template = ''] = name.split(' ');
      const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      const found = verb === method ? pattern.exec(url.pathname) : null;
      if (found === null) continue;
      this.#check(name, `${method} body`, operation.body, body);
      for (const [key, value] of url.searchParams) {
        const parameter = operation.parameters.find((one) => one.in === 'query' && one.name === key);
        if (parameter === undefined) this.faults.push(`${name}: no parameter ${key}`);
        else this.#check(name, key, { type: 'object', properties: { value: parameter.schema } }, { value });
      }
      return { name, path: { ...found.groups } };
    }
    this.faults.push(`${method} ${url.pathname} is no operation`);
    return undefined;
  }

  /** Make an answer that has what the schema requires, with these values. */
  answer(name: string, status: number, values: unknown): unknown {
    const schema = this.#operations[name]?.responses[status] ?? null;
    const filled = schema === null ? values : fill(schema, values);
    this.#check(name, `answer ${status}`, schema, filled);
    return filled;
  }

  #check(name: string, what: string, schema: Schema | null, value: unknown): void {
    if (schema === null) return;
    const check = this.#checks.get(schema) ?? this.#ajv.compile(schema);
    this.#checks.set(schema, check);
    // A coercion may not change what is answered.
    if (!check(structuredClone(value)))
      this.faults.push(`${name}, ${what}: ${this.#ajv.errorsText(check.errors)}`);
  }
}

/** Add what a schema requires to a value. */
function fill(schema: Schema, value: unknown): unknown {
  const choice = [schema['anyOf'], schema['oneOf'], schema['allOf']].flat().find((one) => one !== undefined);
  if (choice !== undefined && schema['type'] === undefined) return fill(choice as Schema, value);
  const type = schema['type'];
  if (type === 'array')
    return ((value as unknown[] | undefined) ?? []).map((one) => fill(schema['items'] as Schema, one));
  if (type !== 'object') return value ?? made(schema);
  if (value === null || (value === undefined && schema['nullable'] === true)) return null;
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const given = (value ?? {}) as Record<string, unknown>;
  const names = new Set([...((schema['required'] ?? []) as string[]), ...Object.keys(given)]);
  return Object.fromEntries(
    [...names].map((name) => [name, properties[name] ? fill(properties[name], given[name]) : given[name]]),
  );
}

function made(schema: Schema): unknown {
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  if (schema['nullable'] === true) return null;
  if (schema['type'] === 'integer' || schema['type'] === 'number') return 1;
  if (schema['type'] === 'boolean') return false;
  return schema['format'] === 'date-time' ? '2026-11-29T00:00:00Z' : 'https://example.org';
}
