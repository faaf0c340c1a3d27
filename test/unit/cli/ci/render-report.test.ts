import { marked } from 'marked';
import { expect, test } from 'vitest';
import { drawCurves } from '../../../../cli/ci/draw-curves.ts';
import { curveTexts } from '../../../../cli/ci/read-curves.ts';
import { renderReport } from '../../../../cli/ci/render-report.ts';
import { CiReport, ciNotes } from '../../../../cli/ci/report.ts';

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
  ...{ gates: [gate('loss <= 2', 'failed')], values: [], curves: [], notes: [] },
};

test('a check that a training has ended leads to that training', () => {
  const head = { name: 'train-2 at aaaaaaaaaa', link: 'https://mps.example/console#/a' };

  const failed = renderReport({ ...report, verdict: 'error', gates: [], head, notes: ['It failed.'] });

  expect(failed).toContain('train&#45;2 at aaaaaaaaaa</code>](<https://mps.example/console#/a>)');
  expect(failed).not.toContain('against');
});

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

test('curves are lines of text on one scale, and a drawing of both sides', () => {
  const points = (...values: number[]) => values.map((y, x) => ({ x: x * 10, y }));
  const curves = [
    { name: 'loss', base: points(1, 0.5, 0.25), head: points(1, 0.6, 0.2, 0) },
    { name: 'a<b', base: [], head: points(-1e300, 1e300) },
    { name: 'flat', base: points(2, 2), head: points(2, 2) },
    { name: 'least', base: [], head: points(0, Number.MIN_VALUE) },
  ];

  const [loss, wide, flat, least] = curveTexts(curves);
  const text = renderReport({ ...report, curves: curveTexts(curves) });
  const drawn = drawCurves(curves, { title: 'Curves', names: { head: 'h', base: 'b' } });

  expect(loss).toEqual({ name: 'loss', base: expect.any(String), head: expect.any(String) });
  expect(loss?.head).toMatch(/^█▅▂▁ 1\u00a0→\u00a00$/);
  expect(loss?.base.endsWith('1\u00a0→\u00a00.25')).toBe(true);
  expect(wide?.head).toMatch(/^▁█ /);
  expect(flat?.head).toMatch(/^▅▅ 2\u00a0→\u00a02$/);
  expect(least?.head).toMatch(/^▁▁ /);
  expect(marked.parse(text, { gfm: true })).toContain('a&#60;b');
  expect(drawn).not.toMatch(/NaN|a<b/);
  expect(drawn.match(/<polyline/g)).toHaveLength(6);
});

test('a note that is too long is cut with a mark, so that its report can be read again', () => {
  const notes = ciNotes([`${'x'.repeat(1998)}😀y`, ...Array(200).fill('short')]);

  expect(notes[0]).toMatch(/x…$|x\ufffd…$/);
  expect(CiReport.safeParse({ ...report, notes }).success).toBe(true);
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
