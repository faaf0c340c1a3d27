import { type Html, html, prose } from '../../../shared/drawing/html.ts';
import type { ApiSchema } from './api-document.ts';
import { followed, isSchema, type Schemas, typeText } from './type-text.ts';

const deepest = 8;

/**
 * Find the object in a schema whose fields the page lists. Follow references, lists and alternatives with null.
 */
function fieldsOf(schema: ApiSchema, schemas: Schemas): ApiSchema | undefined {
  const { properties, items, anyOf, additionalProperties } = followed(schema, schemas);
  if (isSchema(properties)) return followed(schema, schemas);
  if (isSchema(items)) return fieldsOf(items, schemas);
  if (isSchema(additionalProperties)) return fieldsOf(additionalProperties, schemas);
  for (const one of Array.isArray(anyOf) ? anyOf : []) {
    const found = isSchema(one) ? fieldsOf(one, schemas) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function field(name: string, schema: ApiSchema, optional: boolean, schemas: Schemas, depth: number): Html {
  const { description } = schema;
  const notes = html`${optional ? html` <em>optional</em>` : undefined}${
    typeof description === 'string' ? html`<span class="note">${prose(description)}</span>` : undefined
  }`;
  return html`<li><code class="name">${name}</code> <span class="type">${typeText(schema, schemas)}</span>${notes}${fieldList(schema, schemas, depth + 1)}</li>`;
}

function fieldList(schema: ApiSchema, schemas: Schemas, depth: number): Html | undefined {
  const object = depth > deepest ? undefined : fieldsOf(schema, schemas);
  if (object === undefined) return undefined;
  const { properties, required } = object;
  const needed = Array.isArray(required) ? required : [];
  const entries = Object.entries(isSchema(properties) ? properties : {});
  const items = entries.flatMap(([name, inner]) =>
    isSchema(inner) ? [field(name, inner, !needed.includes(name), schemas, depth)] : [],
  );
  const list = html`<ul class="fields">${items}</ul>`;
  if (depth === 0) return list;
  return html`<details><summary>${items.length === 1 ? '1 field' : `${items.length} fields`}</summary>${list}</details>`;
}

/** A schema as an expandable list of its fields; `title` is its heading. */
export function schemaView(title: string, schema: ApiSchema, schemas: Schemas): Html {
  const list = fieldList(schema, schemas, 0);
  const type = html`<span class="type">${typeText(schema, schemas)}</span>`;
  if (list === undefined) return html`<p class="bare">${title} ${type}</p>`;
  return html`<details class="schema"><summary>${title} ${type}</summary>${list}</details>`;
}
