import { marked } from 'marked';
import { expect, test } from 'vitest';
import { renderReport } from '../../../../cli/ci/render-report.ts';
import type { CiReport } from '../../../../cli/ci/report.ts';

const gate = (text: string, verdict: CiReport['gates'][number]['verdict'] = 'passed') => ({
  ...{ gate: text, verdict, measured: text, allowed: 'at most 2' },
  note: null,
});
const report: CiReport = {
  ...{
    report_version: 1,
    verdict: 'failed',
    file: '.mps/ci.yaml',
    project: 'digits',
    commit: 'a'.repeat(40),
  },
  ...{ time: 0, head: { name: 'head', link: 'https://mps.example/console#/a' }, base: null },
  ...{ gates: [gate('loss <= 2', 'failed')], values: [], notes: [] },
};

test('names cannot mention people, break tables, or become markup', () => {
  const hostile =
    'a|b `c` <img src=x onerror=alert(1)> @team #12 [x](javascript:1) https://evil.example www.evil.example\n# x \u202e';

  const text = renderReport({
    ...report,
    ...{ project: hostile, notes: [hostile], gates: [gate(hostile, 'failed')] },
    values: [{ name: hostile, base: hostile, head: hostile, change: hostile }],
    head: { name: hostile, link: 'javascript:alert(1)' },
  });

  const html = marked.parse(text, { gfm: true }) as string;
  const outsideCode = html.replaceAll(/<code>.*?<\/code>/gs, '');
  expect(html).not.toMatch(/<img|<a |<script|<h1|\u202e/);
  // GitHub finds mentions after it has read entities, but not in code, nor with a word joiner.
  expect(outsideCode.replaceAll('&#64;', '@').replaceAll('&#8288;', '\u2060')).not.toMatch(/@\w/);
  expect([...html.matchAll(/<tr>/g)]).toHaveLength(4);
});

test('a link stays a link, and text is cut between characters', () => {
  const link = 'https://mps.example/?a=`(@octo/team|\\`';
  const text = renderReport({ ...report, head: { name: `x${'😀'.repeat(200)}`, link } });

  const html = marked.parse(text, { gfm: true }) as string;
  expect(html.replaceAll(/ href="[^"]*"/g, '')).not.toContain('octo');
  expect(text.isWellFormed()).toBe(true);
});

test('a comment that is too long keeps its verdict and the gates that fail', () => {
  const long = 'x'.repeat(290);
  const gates = Array.from({ length: 50 }, (_, at) =>
    gate(`${long} ${at} <= 1`, at === 49 ? 'failed' : 'passed'),
  );
  const values = Array.from({ length: 1000 }, (_, at) => ({
    name: `${long} ${at}`,
    base: long,
    head: long,
    change: long,
  }));

  const text = renderReport({ ...report, gates, values, notes: Array(100).fill('@'.repeat(2000)) });

  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_000);
  expect(text).toContain('1 of 50 gates fails');
  expect(text).toContain('left out');
});
