import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { renderGraphviz } from '../../../../shared/config/graph/draw/render-graphviz.ts';
import { renderMermaid } from '../../../../shared/config/graph/draw/render-mermaid.ts';
import { renderSvg } from '../../../../shared/config/graph/draw/render-svg.ts';
import fc, { anyText, runs } from '../../../support/seeded-fast-check.ts';
import { graphOf } from './graph-of.ts';
import { xmlFault } from './well-formed-xml.ts';

const key = fc.oneof(
  fc.constantFrom(
    'stages',
    'steps',
    'jobs',
    'layers',
    'model',
    'config',
    'name',
    'id',
    'type',
    'class_name',
    'deps',
    'needs',
    'inputs',
    'outs',
    'outputs',
    'cmd',
    'from',
    'inbound_nodes',
    'do',
    'wdir',
    'backbone',
    'head',
    'a',
    'b',
  ),
  anyText({ maxLength: 5 }),
);
const word = fc.oneof(
  fc.constantFrom('a', 'b', '§{a.b}', '§{.a}', 'a/b', '../a', '§{a[0]}', 'a.b && c'),
  anyText({ maxLength: 10 }),
);
/** Documents that look like pipelines, like models, and like nothing. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.oneof(word, fc.integer({ min: -3, max: 5 }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}));
const documents = fc
  .oneof(fc.dictionary(key, value, { minKeys: 1 }), fc.array(value))
  .map((document) => JSON.parse(JSON.stringify(document)));

test('every document has a graph: unique ids, edges between its nodes, roots without edges into them', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const { nodes, edges, roots, cycles } = graphOf(JSON.stringify(document), 'a.json');
      const ids = new Set(nodes.map(({ id }) => id));
      const entered = new Set(edges.map(({ target }) => target));
      expect(ids.size).toBe(nodes.length);
      expect(
        [...edges.flatMap(({ source, target }) => [source, target]), ...cycles.flat()].filter(
          (id) => !ids.has(id),
        ),
      ).toEqual([]);
      expect(roots).toEqual([...ids].filter((id) => !entered.has(id)));
      expect(new Set(edges.map(({ source, target }) => JSON.stringify([source, target]))).size).toBe(
        edges.length,
      );
    }),
    { numRuns: runs(500) },
  );
});

test('a document has the same graph as YAML and as JSON', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const fromYaml = graphOf(stringify(document, { aliasDuplicateObjects: false }), 'a.yaml');
      expect({ ...fromYaml, config_id: '', nodes: fromYaml.nodes.slice(1) }).toEqual({
        ...graphOf(JSON.stringify(document), 'a.yaml'),
        config_id: '',
        nodes: fromYaml.nodes.slice(1),
      });
    }),
  );
});

test('every graph can be drawn in every form', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const graph = graphOf(JSON.stringify(document), 'a.json');
      expect(xmlFault(renderSvg(graph))).toBeUndefined();
      expect(
        renderMermaid(graph)
          .split('\n')
          .filter((line) => line.includes(']:::')),
      ).toHaveLength(graph.nodes.length);
      expect(
        renderGraphviz(graph)
          .split('\n')
          .filter((line) => line.includes(' -> ')),
      ).toHaveLength(graph.edges.length);
    }),
    { numRuns: runs(200) },
  );
});
