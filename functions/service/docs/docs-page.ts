import { Html, html, paragraphs, prose } from '../../../shared/drawing/html.ts';
import type { ApiDocument } from './api-document.ts';
import { anchorOf, methodBadge, operationView, type Served } from './operation-view.ts';
import { pagePolicy } from './page-policy.ts';
import { script } from './script.ts';
import { style } from './style.ts';

interface Group {
  id: string;
  name: string;
  description: string;
  served: Served[];
}

function groupsOf({ tags, paths }: ApiDocument): Group[] {
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Served => ({ method: method.toUpperCase(), path, operation }),
    ),
  );
  return tags.map(({ name, description = '' }) => ({
    id: `group-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    name,
    description,
    served: served.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

/** Everything of an operation that a search may be for. */
const searched = ({ method, path, operation }: Served): string =>
  [method, path, operation.operationId, operation.summary, operation.description]
    .concat(operation.parameters.map(({ name }) => name))
    .join(' ')
    .toLowerCase();

function navigation(groups: readonly Group[]): Html {
  const link = (served: Served) =>
    html`<li data-search="${searched(served)}"><a href="#${anchorOf(served.operation)}">${methodBadge(served.method)} <span>${served.operation.summary}</span></a></li>`;
  const lists = groups.map(
    ({ id, name, served }) =>
      html`<section data-group><h2><a href="#${id}">${name}</a></h2><ul>${served.map(link)}</ul></section>`,
  );
  return html`<nav id="contents" aria-label="Operations"><section><ul><li><a href="#start">Getting started</a></li></ul></section>${lists}<section><ul><li><a href="#problems">Errors</a></li></ul></section></nav>`;
}

function groupView({ id, name, description, served }: Group, document: ApiDocument): Html {
  const articles = served.map(
    (one) =>
      html`<div class="operation" data-search="${searched(one)}">${operationView(one, document)}</div>`,
  );
  return html`<section id="${id}" data-group aria-labelledby="${id}-title"><h2 id="${id}-title">${name}</h2>${
    description === '' ? undefined : html`<p class="lead">${prose(description)}</p>`
  }${articles}</section>`;
}

function problemsView({ components }: ApiDocument): Html {
  const kinds = Object.entries(components.responses).map(([kind, { description, content }]) => {
    const { status, title } = content['application/problem+json']?.example ?? {};
    return html`<div class="kind" id="problem-${kind}"><h3><span class="status bad">${String(status)}</span> <a class="anchor" href="#problem-${kind}">${String(title)}</a> <code>${kind}</code></h3><p>${prose(description)}</p></div>`;
  });
  const example = components.responses['bad-request']?.content['application/problem+json']?.example;
  return html`<section id="problems" aria-labelledby="problems-title"><h2 id="problems-title">Errors</h2>
<p class="lead">Every error is a problem document (RFC 9457, <code>application/problem+json</code>) whose <code>type</code> leads to one of these.</p>
<pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>${kinds}</section>`;
}

const signIn = `curl "$BASE/auth/token" \\
  -d grant_type=password -d username=ada \\
  --data-urlencode 'password=…'

TOKEN=…   # the access_token of the answer`;

function startView({ info }: ApiDocument, openapiHash: string): Html {
  return html`<section id="start" aria-labelledby="start-title"><h1 id="start-title">${info.title}</h1>
<div class="columns"><div>${paragraphs(info.description)}<p>The same as an <a href="openapi.json?v=${openapiHash}">OpenAPI 3.1 document</a>, to generate clients from.</p></div>
<div class="samples"><h4>Sign in</h4><pre tabindex="0"><code class="curl">BASE=…    # the address of the service
${signIn}</code></pre></div></div></section>`;
}

/** The page, and the policy under which a browser runs just its own style and script. */
export interface DocsPage {
  html: string;
  contentSecurityPolicy: string;
}

/** The reference as one page that asks for nothing else. Its link to the OpenAPI document carries that one's hash. */
export function docsPage(document: ApiDocument, openapiHash: string): DocsPage {
  const groups = groupsOf(document);
  const { title, version } = document.info;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}: reference</title><link rel="icon" href="data:,">
<style>${new Html(style)}</style></head><body>
<a class="skip" href="#main">Skip to the content</a>
<header><button id="menu" type="button" aria-controls="contents" aria-expanded="false">Contents</button>
<p class="brand"><a href="#start">${title}</a> <span>${version}</span></p>
<search><label for="search" class="hidden">Search operations</label><input id="search" type="search" placeholder="Search operations" autocomplete="off" spellcheck="false"></search></header>
<div class="frame">${navigation(groups)}
<main id="main" tabindex="-1"><p id="found" role="status"></p>${startView(document, openapiHash)}${groups.map((group) => groupView(group, document))}${problemsView(document)}</main></div>
<script>${new Html(script)}</script></body></html>
`;
  return { html: page.text, contentSecurityPolicy: pagePolicy({ style, script }) };
}
