import { jsonSchema } from '../definition/answer-schema.ts';
import type { Rule } from '../definition/endpoint-context.ts';
import type { AnyEndpoint } from '../definition/exchange.ts';
import type { ExampleSource } from './example.ts';
import { otherPlace } from './facts.ts';
import { type JsonSchema, resolveSchema, toJsonSchema } from './json-schema.ts';
import { type Parameter, parametersOf } from './parameters-of.ts';
import { requestBodyOf } from './request-body.ts';
import { responsesOf } from './responses.ts';

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  requestBody?: JsonSchema;
  responses: JsonSchema;
  security: readonly JsonSchema[];
}

const callers: Record<Rule, string> = {
  anyone: 'Open to anyone.',
  guest: 'For everybody who is signed in.',
  viewer: 'For viewers, developers and admins.',
  developer: 'For developers and admins.',
  admin: 'For admins.',
};

/** Who may call, in a sentence; undefined where that depends, which then is for the endpoint's own description. */
function whoMay({ allow, project, problems = [] }: AnyEndpoint): string | undefined {
  if (project === 'owner' || project === 'remove') return 'For the project’s owner and admins.';
  if (project === 'developer')
    return 'For the project’s owner, developers with whom it is shared as such, and admins.';
  return allow === 'anyone' && problems.includes('forbidden') ? undefined : callers[allow];
}

/** A mask of the first fields of a masked answer. */
function maskExample(endpoint: AnyEndpoint, { components }: ExampleSource): string {
  if (endpoint.fieldsMask !== true) return '';
  const schema = resolveSchema(toJsonSchema(jsonSchema(endpoint), 'output', components), components);
  const { items } = schema;
  const element =
    typeof items === 'object' && items !== null ? resolveSchema({ ...items }, components) : schema;
  return `{${Object.keys(element['properties'] ?? {})
    .slice(0, 2)
    .join(',')}}`;
}

/** One operation of the document; `tag` is the group it stands in. */
export function operationOf(endpoint: AnyEndpoint, tag: string, source: ExampleSource): Operation {
  const { name, summary, description, allow } = endpoint;
  const requestBody = requestBodyOf(endpoint, source);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [description, otherPlace(endpoint), whoMay(endpoint)]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    parameters: parametersOf(endpoint, maskExample(endpoint, source), source),
    ...(requestBody !== undefined && { requestBody }),
    responses: responsesOf(endpoint, source),
    security: allow === 'anyone' ? [{}, { bearer: [] }] : [{ bearer: [] }],
  };
}
