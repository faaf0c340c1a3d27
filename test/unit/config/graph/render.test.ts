import { describe, expect, test } from 'vitest';
import { renderGraphviz } from '../../../../shared/config/graph/draw/render-graphviz.ts';
import { renderMermaid } from '../../../../shared/config/graph/draw/render-mermaid.ts';
import { renderSvg } from '../../../../shared/config/graph/draw/render-svg.ts';
import { graphOf } from './graph-of.ts';
import { xmlFault } from './well-formed-xml.ts';

const hostile = [
  '</text><script>alert(1)</script>',
  `"'&<>\\`,
  '"]; end\nclick n0 "javascript:alert(1)"',
  '\u0000\u0001\u001b[31m\u007f\ufffe',
  '\u202egnp.exe\u2066\u200b\u00ad',
  '\ud800 lone \udc00',
  `z${'\u0301'.repeat(500)}`,
  'x'.repeat(10_000),
  '漢字 😀 ﷽ \u{12000}',
  '`code` #35; **bold** %% comment',
  ']]>',
  '&#0; &amp; &nope;',
  '\\',
  '   ',
];
const jobs = Object.fromEntries(
  hostile.map((name, i) => [name, { run: name, needs: [hostile[i - 1] ?? hostile.at(-1)] }]),
);
const kinds = [
  ['pipeline', JSON.stringify({ jobs })],
  ['layers', JSON.stringify({ layers: hostile.map((name) => ({ name, type: name, units: name })) })],
  ['structure', JSON.stringify({ ...jobs, refs: hostile.map((name) => `\${["${name}"]} ${name}`) })],
] as const;

describe('hostile labels', () => {
  test.each(kinds)('%s: the SVG is well formed and holds no markup of theirs', (kind, text) => {
    const graph = graphOf(text, 'a.json');
    const svg = renderSvg({ ...graph, config_id: hostile.join(' ') });
    expect(graph.kind).toBe(kind);
    expect(xmlFault(svg)).toBeUndefined();
    expect(svg).not.toMatch(/<script|javascript:alert\(1\)"|\son\w+=/);
    expect(svg).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect([...new Set([...svg.matchAll(/<([a-z]+)/gi)].map(([, name]) => name))].sort()).toEqual(
      ['defs', 'g', 'marker', 'path', 'rect', 'svg', 'text', 'title'].sort(),
    );
  });

  test.each(kinds)('%s: Mermaid has one statement a line and nothing unescaped', (_, text) => {
    const lines = renderMermaid(graphOf(text, 'a.json')).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^flowchart (LR|TD)$/);
    for (const line of lines.slice(1)) {
      expect(line).toMatch(
        /^ {2}(n\d+\["(?:[\p{L}\p{M}\p{N} .,_/=-]|#\d+;)+"\]:::c\d+|n\d+ (-->|-\.->)(\|"(?:[\p{L}\p{M}\p{N} .,_/=-]|#\d+;)+"\|)? n\d+|classDef c\d+ [\w#:,-]+)$/u,
      );
    }
  });

  test.each(kinds)('%s: DOT has one statement a line and closes its strings', (_, text) => {
    const lines = renderGraphviz(graphOf(text, 'a.json')).trimEnd().split('\n');
    const string = String.raw`"(?:[^"\\&]|\\["\\]|&amp;)*"`;
    const attributes = String.raw`\[\w+=(?:${string}|[\w.]+)(?:, \w+=(?:${string}|[\w.]+))*\]`;
    expect(lines[0]).toMatch(new RegExp(`^digraph ${string} \\{$`));
    expect(lines.at(-1)).toBe('}');
    for (const line of lines.slice(1, -1))
      expect(line).toMatch(new RegExp(`^ {2}(graph|node|edge|n\\d+|n\\d+ -> n\\d+) ${attributes}$`));
  });
});

describe('the drawing', () => {
  const svg = renderSvg(
    graphOf('jobs: {a: {run: make data}, b: {needs: a}, c: {needs: [b, d]}, d: {needs: [c, d]}}', 'ci.yaml'),
  );

  test('says what it shows to those who cannot see it', () => {
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-label="ci\.yaml: pipeline, 4 nodes, 5 edges"/);
    expect(svg).toContain('<title>ci.yaml: pipeline, 4 nodes, 5 edges</title>');
  });

  test('marks cycles: the nodes, the edges and in words', () => {
    expect(svg).toContain('>1 cycle: c, d</text>');
    expect(svg.match(/<rect [^>]*stroke="#c4211a"/g)).toHaveLength(2);
    expect(svg.match(/<path [^>]*stroke="#c4211a"/g)).toHaveLength(3);
  });

  test('keeps boxes apart from each other and within the picture', () => {
    const wide = Array.from(
      { length: 60 },
      (_, i) =>
        `{name: "${'W'.repeat(i)}", type: Conv, inputs: [${i === 0 ? '' : `"${'W'.repeat(i >> 1)}"`}]}`,
    );
    for (const text of [`layers: [${wide.join()}]`, `a: [${wide.join()}]`]) {
      const drawn = renderSvg(graphOf(text));
      const boxes = [
        ...drawn.matchAll(
          /translate\((-?[\d.]+) ([\d.]+)\)"><title>[^<]*<\/title><rect width="([\d.]+)" height="([\d.]+)"/g,
        ),
      ].map((match) => match.slice(1).map(Number) as [number, number, number, number]);
      const [, width = 0] = /width="(\d+)"/.exec(drawn)?.map(Number) ?? [];
      expect(boxes.length).toBeGreaterThanOrEqual(60);
      for (const [i, [x, y, w, h]] of boxes.entries()) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + w).toBeLessThanOrEqual(width);
        expect(
          boxes
            .slice(i + 1)
            .filter(([x2, y2, w2, h2]) => x < x2 + w2 && x2 < x + w && y < y2 + h2 && y2 < y + h),
        ).toEqual([]);
      }
    }
  });
});

describe('more than can be drawn', () => {
  const large = graphOf(
    Array.from(
      { length: 100 },
      (_, i) => `g${i}: {${Array.from({ length: 199 }, (_, k) => `k${k}: ${k}`).join()}}`,
    ).join('\n'),
  );
  const note =
    'Too large to draw completely: 19,501 nodes and 19,501 edges left out. The JSON form contains all.';

  test('is drawn from the roots on, with a note', () => {
    const svg = renderSvg(large);
    expect(large.nodes).toHaveLength(20_001);
    expect(svg).toContain(note);
    expect(svg.match(/<rect [^>]*rx="6"/g)).toHaveLength(500);
    expect(svg).toContain('>g99</text>');
    expect(xmlFault(svg)).toBeUndefined();
  });

  test('stays below what Mermaid draws by default', () => {
    const escapes = `"<&>'`.repeat(40);
    const text = JSON.stringify({
      jobs: Object.fromEntries(
        Array.from({ length: 490 }, (_, i) => [
          `${i}${escapes}`,
          { run: 'x', needs: [`${i - 1}${escapes}`, `${i - 2}${escapes}`] },
        ]),
      ),
    });
    for (const graph of [large, graphOf(text, 'a.json')]) {
      const mermaid = renderMermaid(graph);
      expect(mermaid.length).toBeLessThanOrEqual(50_000);
      expect(mermaid.match(/ -->/g)?.length).toBeLessThanOrEqual(500);
      expect(mermaid).toContain('note["Too large to draw completely#58;');
    }
    expect(renderGraphviz(large)).toContain(note);
  });

  test('takes no longer where all is connected to all', () => {
    const layers = Array.from({ length: 400 }, (_, i) => ({
      name: `l${i}`,
      type: 'Conv',
      inputs: Array.from({ length: Math.min(i, 100) }, (_, k) => `l${(i * 7 + k * 13) % 400}`),
    }));
    const svg = renderSvg(graphOf(JSON.stringify({ layers }), 'a.json'));
    expect(svg.match(/marker-end/g)).toHaveLength(1000);
  });
});
