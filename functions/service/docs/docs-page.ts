import { Html, html, prose } from '../../../shared/drawing/html.ts';
import type { ApiDocument } from './api-document.ts';
import { contents, type Group, groupsOf, searched } from './groups.ts';
import { guide } from './guide.ts';
import { errorsPage, operationView } from './operation-view.ts';
import { pagePolicy } from './page-policy.ts';
import { script } from './script.ts';
import { style } from './style.ts';

/** A page, and the policy that makes a browser run only the page's own style and script. */
export interface DocsPage {
  html: string;
  contentSecurityPolicy: string;
}

/** Names of the pages after the guide: one for each group of operations, and one for the errors. */
export const docsPageNames = (document: ApiDocument): string[] => [
  ...groupsOf(document).map(({ id }) => id),
  errorsPage,
];

/**
 * Build a page of the reference. The page loads no other resources.
 *
 * @param openapiHash - hash of the OpenAPI document for the link to it
 * @param page - one of `docsPageNames`; the guide if undefined
 */
export function docsPage(document: ApiDocument, openapiHash: string, page?: string): DocsPage {
  const groups = groupsOf(document);
  const { title, version } = document.info;
  const group = groups.find(({ id }) => id === page);
  const content =
    group === undefined
      ? page === undefined
        ? html`${guide(title, openapiHash)}${kindsList(document)}`
        : problemsView(document)
      : groupView(group, document);
  const name = group?.name ?? (page === undefined ? 'Guide' : 'Errors');
  const whole = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${name} · ${title}</title><link rel="icon" href="data:,">
<style>${new Html(style)}</style></head><body>
<a class="skip" href="#main">Skip to the content</a>
<header><button id="menu" type="button" aria-controls="contents" aria-expanded="false">Contents</button>
<p class="brand"><a href="docs">${title}</a> <span>${version}</span></p>
<search><label for="search" class="hidden">Search operations</label><input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"></search>
<a class="console" href="console">Console</a></header>
<div class="frame">${contents(groups, page)}
<main id="main" tabindex="-1"><p id="found" role="status"></p>${content}${turns(groups, page)}</main></div>
<script>${new Html(script)}</script></body></html>
`;
  return { html: whole.text, contentSecurityPolicy: pagePolicy({ style, script }) };
}

function groupView({ id, name, description, served }: Group, document: ApiDocument): Html {
  const articles = served.map(
    (one) =>
      html`<div class="operation" data-search="${searched(one)}">${operationView(one, document)}</div>`,
  );
  return html`<section id="group-${id}" data-group aria-labelledby="group-title"><h1 id="group-title">${name}</h1>${
    description === '' ? undefined : html`<p class="lead">${prose(description)}</p>`
  }<p class="lead">The commands use <code>$BASE</code> and <code>$TOKEN</code>; the <a href="docs#api">guide</a> says how to set them.</p>${articles}</section>`;
}

/** Return the kinds of problem documents. Errors of served models have the same kinds in another form. */
const problemsOf = ({ responses }: ApiDocument['components']) =>
  Object.entries(responses).flatMap(([kind, { description, content }]) => {
    const example = content['application/problem+json']?.example;
    const { status, title } = example ?? {};
    return example === undefined ? [] : [{ kind, description, status, title }];
  });

/** List the kinds of errors. The `type` of a problem document links to its entry: `/docs#problem-<kind>`. */
function kindsList({ components }: ApiDocument): Html {
  const kinds = problemsOf(components).map(({ kind, status, title }) => {
    return html`<li><a id="problem-${kind}" href="?page=${errorsPage}#problem-${kind}"><span class="status bad">${String(status)}</span> ${String(title)}</a></li>`;
  });
  return html`<section id="problems" class="problems" aria-labelledby="problems-title"><h2 id="problems-title">Errors</h2><ul>${kinds}</ul></section>`;
}

function problemsView({ components }: ApiDocument): Html {
  const kinds = problemsOf(components).map(({ kind, description, status, title }) => {
    return html`<div class="kind" id="problem-${kind}"><h2><span class="status bad">${String(status)}</span> <a class="anchor" href="#problem-${kind}">${String(title)}</a> <code>${kind}</code></h2><p>${prose(description)}</p></div>`;
  });
  const example = components.responses['bad-request']?.content['application/problem+json']?.example;
  return html`<section id="problems" aria-labelledby="problems-title"><h1 id="problems-title">Errors</h1>
<p class="lead">Every error is a problem document (RFC 9457, <code>application/problem+json</code>) whose <code>type</code> leads to one of these entries. Served models (<code>/v2</code>) answer <code>{"error": …}</code> with the same statuses, as the Open Inference Protocol says.</p>
<pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>${kinds}</section>`;
}

/** Links to the previous and the next page, in the order of the contents. */
function turns(groups: readonly Group[], page: string | undefined): Html {
  const pages = [
    { id: undefined, name: 'Guide' },
    ...groups.map(({ id, name }) => ({ id, name })),
    { id: errorsPage, name: 'Errors' },
  ];
  const here = pages.findIndex(({ id }) => id === page);
  const link = (index: number, rel: 'prev' | 'next', before: string, after: string) => {
    const other = pages[index];
    if (other === undefined) return html`<span></span>`;
    return html`<a rel="${rel}" href="${other.id === undefined ? 'docs' : `?page=${other.id}`}">${before}${other.name}${after}</a>`;
  };
  return html`<nav class="turns" aria-label="Pages">${link(here - 1, 'prev', '← ', '')}${link(here + 1, 'next', '', ' →')}</nav>`;
}
