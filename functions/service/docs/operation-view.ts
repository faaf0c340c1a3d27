import { type Html, html, paragraphs, prose } from '../../../shared/drawing/html.ts';
import type { ApiDocument, ApiOperation, ApiParameter, ApiResponse } from './api-document.ts';
import { curlCommand } from './curl.ts';
import { schemaView } from './schema-view.ts';
import { type Schemas, typeText } from './type-text.ts';

/** An operation with its method and path. */
export interface Served {
  method: string;
  path: string;
  operation: ApiOperation;
}

/** Name of the page that explains the kinds of error. */
export const errorsPage = 'errors';

/** Anchor of an operation on the page of its group. */
export const anchorOf = ({ operationId }: ApiOperation): string => operationId;

/** A path with a line-break opportunity before each segment. */
export const breakable = (path: string): Html =>
  html`${path.split(/(?=\/)/).map((segment) => html`<wbr>${segment}`)}`;

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

function parameterRow(
  { name, required, description, schema, example }: ApiParameter,
  schemas: Schemas,
): Html {
  const { pattern } = schema;
  const form =
    typeof pattern === 'string' ? html`<span class="note">matches <code>${pattern}</code></span>` : undefined;
  const shown = html`<span class="note">such as <code>${String(example)}</code></span>`;
  return html`<li><code class="name">${name}</code> <span class="type">${typeText(schema, schemas)}</span>${
    required ? html` <strong class="required">required</strong>` : undefined
  }${description === undefined ? undefined : html`<span class="note">${prose(description)}</span>`}${
    example === undefined ? form : shown
  }</li>`;
}

const places = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers, optional'],
] as const;

function parametersView({ parameters }: ApiOperation, schemas: Schemas): Html[] {
  return places.flatMap(([place, title]) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    if (here.length === 0) return [];
    return [html`<h3>${title}</h3><ul class="fields">${here.map((one) => parameterRow(one, schemas))}</ul>`];
  });
}

function bodyView({ requestBody }: ApiOperation, schemas: Schemas): Html | undefined {
  if (requestBody === undefined) return undefined;
  const types = Object.keys(requestBody.content).map((type) => (type === '*/*' ? 'any media type' : type));
  const schema = Object.values(requestBody.content)[0]?.schema;
  return html`<h3>Body</h3><p class="bare">${types.join(' or ')}</p>${
    requestBody.description === undefined ? undefined : paragraphs(requestBody.description)
  }${schema === undefined ? undefined : schemaView('Fields', schema, schemas)}`;
}

/**
 * Return the schema of the whole response. If the operation supports a field mask, the schema also has a partial
 * alternative.
 */
function unmasked(response: ApiResponse): ApiResponse['content'] {
  const json = response.content?.['application/json'];
  const whole = json?.schema?.['anyOf'];
  if (json === undefined || !Array.isArray(whole)) return response.content;
  return { ...response.content, 'application/json': { ...json, schema: whole[0] } };
}

function answerView(status: string, response: ApiResponse, schemas: Schemas): Html {
  const content = Object.entries(unmasked(response) ?? {}).map(([type, { schema }]) =>
    type === 'application/json' && schema !== undefined
      ? schemaView(type, schema, schemas)
      : html`<p class="bare">${type}</p>`,
  );
  const text = status === '200' || status === '201' ? undefined : response.description;
  return html`<div class="answer"><span class="status">${status}</span><div>${
    text === undefined ? undefined : html`<p class="bare">${prose(text)}</p>`
  }${content}</div></div>`;
}

function problemLink(status: string, { $ref }: ApiResponse): Html {
  const kind = ($ref?.split('/').at(-1) ?? '').replace(/^plain-/, '');
  return html`<li><a href="?page=${errorsPage}#problem-${kind}"><span class="status bad">${status}</span> ${kind}</a></li>`;
}

function exampleView({ responses }: ApiOperation): Html | undefined {
  const example = (responses['200'] ?? responses['201'])?.content?.['application/json']?.example;
  if (example === undefined) return undefined;
  return html`<h3>Example response</h3><pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>`;
}

/** One operation: its parameters and responses next to a command that calls it. */
export function operationView({ method, path, operation }: Served, { components }: ApiDocument): Html {
  const { schemas } = components;
  const id = anchorOf(operation);
  const entries = Object.entries(operation.responses);
  const answers = entries.filter(([, { $ref }]) => $ref === undefined);
  const problems = entries.filter(([, { $ref }]) => $ref !== undefined);
  return html`<article id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><a class="anchor" href="#${id}">${operation.summary}</a></h2>
<p class="route">${methodBadge(method)} <code>${breakable(path)}</code></p>
<div class="columns"><div>
${paragraphs(operation.description)}
${parametersView(operation, schemas)}
${bodyView(operation, schemas)}
<h3>Responses</h3>${answers.map(([status, response]) => answerView(status, response, schemas))}
<details class="problems"><summary>${problems.length} kinds of error</summary><ul>${problems.map(([status, response]) => problemLink(status, response))}</ul></details>
</div><div class="samples">
<h3>Call it</h3><pre tabindex="0"><code class="curl">${curlCommand(method, path, operation)}</code></pre>
${exampleView(operation)}
</div></div></article>`;
}
