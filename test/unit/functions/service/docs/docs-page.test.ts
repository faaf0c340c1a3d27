import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { ApiDocument } from '../../../../../functions/service/docs/api-document.ts';
import { type DocsPage, docsPage, docsPageNames } from '../../../../../functions/service/docs/docs-page.ts';
import { guideCommands } from '../../../../../functions/service/docs/guide.ts';
import kept from '../../../../../functions/service/openapi.json' with { type: 'json' };
import { problemKinds } from '../../../../../shared/http/definition/problem.ts';
import { runMps } from '../../../../support/mps.ts';

const document = ApiDocument.parse(kept);
const names = docsPageNames(document);
const guide = docsPage(document, 'hash');
const pages = new Map([undefined, ...names].map((name) => [name, docsPage(document, 'hash', name)]));
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const idsOf = ({ html }: DocsPage): string[] =>
  [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '');
const linksOf = ({ html }: DocsPage): string[] =>
  [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href]) => href ?? '');

const inside = (page: DocsPage, tag: string): string => {
  const [, text = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page.html) ?? [];
  return text;
};
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('the reference', () => {
  test('shows every operation once, on the page of its group', () => {
    const ids = [...pages.values()].flatMap(idsOf);
    for (const { operationId } of operations)
      expect(
        ids.filter((id) => id === operationId),
        operationId,
      ).toHaveLength(1);
  });

  test('has an anchor in its front for the type of every problem document', () => {
    for (const kind of Object.keys(problemKinds)) expect(idsOf(guide)).toContain(`problem-${kind}`);
  });

  test('links only to its pages, the console and the document, where there is something', () => {
    for (const page of pages.values()) {
      const ids = idsOf(page);
      expect(new Set(ids).size).toBe(ids.length);
      for (const link of linksOf(page)) {
        const { groups: { name, anchor } = {} } =
          /^(?:docs|\?page=(?<name>[a-z-]+))?(?:#(?<anchor>[\w-]+))?$/.exec(link) ?? {};
        if (['console', 'openapi.json?v=hash', '#main'].includes(link)) continue;
        const target = link.startsWith('#') ? page : pages.get(name);
        expect(target, link).toBeDefined();
        if (anchor !== undefined) expect(target && idsOf(target), link).toContain(anchor);
      }
    }
  });

  test('leads from each page to the one before and the one after it', () => {
    const [first = '', second = ''] = names;
    expect(pages.get(first)?.html).toContain('<a rel="prev" href="docs">');
    expect(pages.get(first)?.html).toContain(`<a rel="next" href="?page=${second}">`);
  });

  test('lists every operation in the contents of each page, so that a search finds it', () => {
    for (const { html } of pages.values()) {
      const [, contents = ''] = /<nav id="contents"(.*?)<\/nav>/s.exec(html) ?? [];
      const listed = [...contents.matchAll(/<li data-search[^>]*><a href="[^"#]*#([^"]+)"/g)].map(
        ([, id]) => id,
      );
      expect(listed.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
    }
  });

  test('loads nothing, and may run only its own style and script', () => {
    for (const page of pages.values()) {
      expect(page.html).not.toMatch(/ (src|srcset|action|style|on\w+)=/);
      expect(page.html).not.toMatch(/@import|url\(/);
      const policy = page.contentSecurityPolicy.split('; ');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain(`style-src ${hashOf(inside(page, 'style'))}`);
      expect(policy).toContain(`script-src ${hashOf(inside(page, 'script'))}`);
    }
  });

  test('has landmarks, a language, one heading of the first level and labels', () => {
    for (const { html } of pages.values()) {
      for (const tag of ['<html lang="en">', '<header>', '<nav ', '<main ', '<search>'])
        expect(html).toContain(tag);
      expect(html).toContain('<label for="search"');
      expect(html.match(/<h1 /g)).toHaveLength(1);
    }
  });

  test('calls every operation with its method and what it needs', () => {
    const commands = names.flatMap((name) =>
      [...(pages.get(name)?.html.matchAll(/<code class="curl">(.*?)<\/code>/gs) ?? [])].map(
        ([, text]) => text ?? '',
      ),
    );
    expect(commands.length).toBe(operations.length);
    const create = commands.find((text) => text.includes('POST') && text.includes('$BASE/projects/&quot;'));
    expect(create).toContain('-H &quot;Authorization: Bearer $TOKEN&quot;');
    expect(create).toContain('--data-urlencode &#39;project-name=Handwritten digits&#39;');
    const signIn = commands.find((text) => text.includes('$BASE/auth/token'));
    expect(signIn).not.toContain('$TOKEN');
  });
});

test.each(guideCommands.map(([command]) => command))(
  'the guide names a command that mps has: %s',
  async (command) => {
    const words = command
      .split(' ')
      .slice(1)
      .filter((word) => /^[a-z]+$/.test(word));

    const { stdout } = await runMps([...words, '--help'], { folder: tmpdir(), home: tmpdir() });

    expect(stdout).toContain(`USAGE\n  mps ${words.join(' ')}`);
  },
);

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
    operation!.tags[0]?.toLowerCase(),
  );
  expect(html).not.toContain('<img');
  expect(html).not.toContain('<b>');
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
});
