import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ApiDocument } from '../../../../../functions/service/docs/api-document.ts';
import { docsPage } from '../../../../../functions/service/docs/docs-page.ts';
import kept from '../../../../../functions/service/openapi.json' with { type: 'json' };
import { problemKinds } from '../../../../../shared/http/definition/problem.ts';

const document = ApiDocument.parse(kept);
const page = docsPage(document, 'hash');
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const ids = [...page.html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '');

const inside = (tag: string, end = tag): string => {
  const [, text = ''] = new RegExp(`<${tag}>(.*?)</${end}>`, 's').exec(page.html) ?? [];
  return text;
};
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('the reference', () => {
  test('shows every operation once, under its own anchor', () => {
    for (const { operationId } of operations) expect(ids.filter((id) => id === operationId)).toHaveLength(1);
    expect(page.html.match(/<article /g)).toHaveLength(operations.length);
  });

  test('has an anchor for the type of every problem document', () => {
    for (const kind of Object.keys(problemKinds)) expect(ids).toContain(`problem-${kind}`);
  });

  test('links only to itself and to the document, where there is something', () => {
    const links = [...page.html.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href ?? '');
    const elsewhere = links.filter(
      (href) => !href.startsWith('#') && href !== 'openapi.json?v=hash' && href !== 'data:,',
    );
    expect(elsewhere).toEqual([]);
    const missing = links.filter((href) => href.startsWith('#') && !ids.includes(href.slice(1)));
    expect(missing).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('lists in its contents all that the reader can be at, so that it can be marked there', () => {
    const listed = [
      ...inside('nav id="contents" aria-label="Operations"', 'nav').matchAll(/<li[^>]*><a href="#([^"]+)"/g),
    ];
    const sections = ['start', ...operations.map(({ operationId }) => operationId), 'problems'];
    expect(listed.map(([, id]) => id).sort()).toEqual(sections.sort());
  });

  test('loads nothing, and may run only its own style and script', () => {
    expect(page.html).not.toMatch(/ (src|srcset|action|style|on\w+)=/);
    expect(page.html).not.toMatch(/@import|url\(/);
    const policy = page.contentSecurityPolicy.split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src ${hashOf(inside('style'))}`);
    expect(policy).toContain(`script-src ${hashOf(inside('script'))}`);
  });

  test('has landmarks, a language and labels', () => {
    for (const tag of ['<html lang="en">', '<header>', '<nav ', '<main ', '<search>'])
      expect(page.html).toContain(tag);
    expect(page.html).toContain('<label for="search"');
    expect(page.html.match(/<h1 /g)).toHaveLength(1);
  });

  test('calls every operation with its method and what it needs', () => {
    const commands = [...page.html.matchAll(/<code class="curl">(.*?)<\/code>/gs)].map(
      ([, text]) => text ?? '',
    );
    expect(commands.length).toBe(operations.length + 1);
    const create = commands.find((text) => text.includes('POST') && text.includes('$BASE/projects/&quot;'));
    expect(create).toContain('-H &quot;Authorization: Bearer $TOKEN&quot;');
    expect(create).toContain('--data-urlencode &#39;project-name=Handwritten digits&#39;');
  });
});

test('text from the document cannot become markup', () => {
  const hostile = '</script><img src=x onerror=alert(1)>"\'`<b>`';
  const [path = '', methods = {}] = Object.entries(document.paths)[0] ?? [];
  const [method = '', operation] = Object.entries(methods)[0] ?? [];
  const changed = { ...operation!, summary: hostile, description: hostile };
  const { html } = docsPage(
    {
      ...document,
      info: { title: hostile, version: hostile, description: hostile },
      paths: { [path]: { [method]: changed } },
    },
    'hash',
  );
  expect(html).not.toContain('<img');
  expect(html).not.toContain('<b>');
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
});
