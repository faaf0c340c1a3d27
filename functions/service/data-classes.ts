/**
 * Return the Python module that types the records of the service, made of its OpenAPI document. The classes are
 * `TypedDict`s: records stay the JSON that came, so an older package can read a newer service's records, and the reverse.
 */
export function dataClasses(document: OpenApiDocument): string {
  const writer = new ClassWriter(document.components.schemas);
  for (const name of named) writer.named(name);
  for (const [name, operation] of Object.entries(rowsOf)) writer.typeOf(rowSchema(document, operation), name);
  return [header, ...writer.classes].join('\n\n');
}

export interface OpenApiDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId?: string;
  responses?: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** What the service's document uses of JSON Schema. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
}

/** Records that `mps` hands out; those that they name come with them. */
const named = ['Experiment', 'Sweep', 'Trial', 'Model', 'Project', 'ServedModelMetadata', 'InferResponse'];

/** Rows of lists whose schema has no name, by the operation that lists them. */
const rowsOf = { Artifact: 'listArtifacts', Point: 'readExperimentMetrics' } as const;

const header = `"""Records of the service, generated from its OpenAPI document by the build of this package.

Each is a dictionary, as its JSON came: times are ISO 8601 in UTC, sizes bytes, durations seconds, costs US dollars.
A newer service may send further keys.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict
`;

function rowSchema({ paths }: OpenApiDocument, operationId: string): Schema {
  const operation = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .find((one) => one.operationId === operationId);
  const rows = operation?.responses?.['200']?.content?.['application/json']?.schema?.items;
  if (rows === undefined) throw new Error(`the OpenAPI document has no list ${operationId}`);
  return rows;
}

class ClassWriter {
  readonly classes: string[] = [];
  private readonly written = new Set<string>();
  private readonly schemas: Readonly<Record<string, Schema>>;

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.schemas = schemas;
  }

  /** Write the class of a schema with a name, once, and return the name. */
  named(name: string): string {
    const schema = this.schemas[name];
    if (schema === undefined) throw new Error(`the OpenAPI document has no schema ${name}`);
    if (this.written.has(name)) return name;
    this.written.add(name);
    return this.typeOf(schema, name);
  }

  /** Return the Python type of a schema. Objects with fields become a class of that name. */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return this.named(schema.$ref.split('/').at(-1) ?? '');
    const values = schema.const !== undefined ? [schema.const] : schema.enum;
    if (values !== undefined) return `Literal[${values.map(literal).join(', ')}]`;
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) {
      const isSeveral = choices.filter(({ properties }) => properties !== undefined).length > 1;
      return union(choices.map((one, at) => this.typeOf(one, isSeveral ? `${name}${at + 1}` : name)));
    }
    if (Array.isArray(schema.type))
      return union(schema.type.map((type) => this.typeOf({ ...schema, type }, name)));
    if (schema.type === 'array') return `list[${this.typeOf(schema.items ?? {}, name)}]`;
    if (schema.type === 'object') return this.objectType(schema, name);
    return scalars[schema.type ?? ''] ?? 'Any';
  }

  private objectType({ properties, required = [], additionalProperties }: Schema, name: string): string {
    if (properties === undefined)
      return typeof additionalProperties === 'object'
        ? `dict[str, ${this.typeOf(additionalProperties, name)}]`
        : 'dict[str, Any]';
    const fields = Object.entries(properties).map(
      ([field, schema]): Field => [field, this.typeOf(schema, `${name}${pascal(field)}`), schema.description],
    );
    const optional = fields.filter(([field]) => !required.includes(field));
    if (optional.length === 0) this.write(name, fields, true);
    else if (optional.length === fields.length) this.write(name, fields, false);
    else {
      // Python 3.9 states for a whole class whether its keys are required.
      this.write(
        `_${name}Required`,
        fields.filter((field) => !optional.includes(field)),
        true,
      );
      this.write(`_${name}Optional`, optional, false);
      this.classes.push(`class ${name}(_${name}Required, _${name}Optional):\n    pass\n`);
    }
    return name;
  }

  private write(name: string, fields: readonly Field[], isRequired: boolean): void {
    const total = isRequired ? '' : ', total=False';
    if (fields.every(([field]) => /^[A-Za-z_]\w*$/.test(field) && !keywords.has(field))) {
      const body = fields.map(([field, type, text]) => `    ${field}: ${type}${comment(text)}\n`);
      this.classes.push(`class ${name}(TypedDict${total}):\n${body.join('')}`);
    } else {
      const body = fields.map(([field, type]) => `${literal(field)}: ${literal(type)}`);
      this.classes.push(`${name} = TypedDict("${name}", {${body.join(', ')}}${total})\n`);
    }
  }
}

/** Fields of the service that no attribute of a Python class can have. */
const keywords = new Set([
  'and',
  'as',
  'class',
  'def',
  'del',
  'for',
  'from',
  'global',
  'if',
  'import',
  'in',
  'is',
  'not',
  'or',
  'pass',
  'with',
]);

type Field = readonly [name: string, type: string, description: string | undefined];

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

/** Each type once: None comes last, as people write it. */
function union(types: readonly string[]): string {
  const each = [...new Set(types.flatMap((type) => type.split(' | ')))];
  return [...each.filter((type) => type !== 'None'), ...(each.includes('None') ? ['None'] : [])].join(' | ');
}

const literal = (value: unknown): string =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

const pascal = (field: string): string =>
  field.replaceAll(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The description as a docstring of the field, which editors show. */
const comment = (description: string | undefined): string =>
  description === undefined
    ? ''
    : `\n    """${description.replaceAll('\\', '\\\\').replaceAll('"""', "'''")}"""`;
