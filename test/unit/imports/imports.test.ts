import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { importCircles, upwardImports } from './import-faults.ts';
import { readImportGraph } from './import-graph.ts';
import { layers } from './layers.ts';

const root = join(import.meta.dirname, '../../..');

describe('the imports of this repository', async () => {
  const graph = await readImportGraph(root, ['cli', 'functions', 'infra', 'shared', 'test']);

  test('are all read', () => {
    expect(graph.size).toBeGreaterThan(1400);
    const rooms = layers
      .flat()
      .filter((room) => ![...graph.keys()].some((path) => path.startsWith(`${room}/`)));
    expect(rooms).toEqual([]);
    // A type, a value, a re-export and import(), one of each, and a component.
    expect(graph.get('shared/http/definition/middleware.ts')).toContain(
      'shared/data/projects/change-in-project.ts',
    );
    expect(graph.get('shared/http/pipeline/lambda.ts')).toContain('shared/core/log.ts');
    expect(graph.get('shared/http/fields-mask/fields-mask.ts')).toContain(
      'shared/http/fields-mask/parse-mask.ts',
    );
    expect(graph.get('functions/projects/configs/config-graph.ts')).toContain(
      'shared/config/graph/draw/render-svg.ts',
    );
    expect(graph.get('functions/console/app/app.tsx')).toContain('functions/console/app/pages/compare.tsx');
  });

  test('lead down', () => {
    expect(upwardImports(graph, layers)).toEqual([]);
  });

  test('form no circle', () => {
    expect(importCircles(graph)).toEqual([]);
  });
});

/** The graph of made-up modules. */
async function graphOf(modules: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'imports-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [path, text] of Object.entries(modules)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return readImportGraph(folder, ['low', 'high', 'side']);
}

describe('made-up imports', () => {
  const rooms = [['low'], ['high', 'side'], ['high/inner']];

  test.each([
    ['a value', "import { a } from '../high/a.ts';"],
    ['a type', "import type { A } from '../high/a.ts';"],
    ['a type among values', "import { type A } from '../high/a.ts';"],
    ['a side effect', "import '../high/a.ts';"],
    ['a re-export', "export { a } from '../high/a.ts';"],
    ['all of a module', "export * from '../high/a.ts';"],
    ['import()', "export const a = () => import('../high/a.ts');"],
    ['a type by import()', "export type A = import('../high/a.ts').A;"],
  ])('%s from a higher room is found', async (_, text) => {
    const graph = await graphOf({ 'low/b.ts': text, 'high/a.ts': 'export const a = 1; export type A = 1;' });
    expect(upwardImports(graph, rooms)).toEqual(['low/b.ts -> high/a.ts']);
  });

  test('what a comment or a string says is no import', async () => {
    const text = "// import '../high/a.ts';\nexport const text = `import '../high/a.ts'`;";
    const graph = await graphOf({ 'low/b.ts': text, 'high/a.ts': '' });
    expect(upwardImports(graph, rooms)).toEqual([]);
    expect(graph.get('low/b.ts')).toEqual([]);
  });

  test('rooms on one line do not know each other, and an inner room is one of its own', async () => {
    const graph = await graphOf({
      'low/a.ts': '',
      'side/b.mjs': "import '../high/a.ts'; import '../low/a.ts';",
      'high/a.ts': "import './inner/c.ts';",
      'high/inner/c.ts': "import '../../side/b.mjs';",
    });
    expect(upwardImports(graph, rooms).sort()).toEqual([
      'high/a.ts -> high/inner/c.ts',
      'side/b.mjs -> high/a.ts',
    ]);
  });

  test('a module in no room is found', async () => {
    const graph = await graphOf({ 'side/a.ts': '' });
    expect(upwardImports(graph, [['low']])).toEqual(['side/a.ts is in no room']);
  });

  test('a circle is found, also one of types alone and within a room', async () => {
    const graph = await graphOf({
      'low/c.ts': "import type { A } from './a.ts'; export type C = A;",
      'low/a.ts': "import type { B } from './b.ts'; export type A = B;",
      'low/b.ts': "export type { C as B } from './c.ts';",
      'low/d.ts': "import './a.ts';",
    });
    expect(importCircles(graph)).toEqual([['low/a.ts', 'low/b.ts', 'low/c.ts']]);
  });
});
