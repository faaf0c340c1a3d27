import { describe, expect, test } from 'vitest';
import { arrows, graphOf } from './graph-of.ts';

test('a DVC pipeline: files, folders above and below, long forms, metrics and a working folder', () => {
  const graph = graphOf(`
stages:
  fetch: {cmd: python fetch.py, wdir: src, outs: [../data/raw/]}
  prepare:
    cmd: python prepare.py
    deps: [./data/raw/digits.csv, prepare.py]
    params: [seed, split]
    outs: [data/prepared/train.csv, {data/prepared/test.csv: {cache: false}}]
  train: {cmd: python train.py, deps: [data/prepared], outs: [{path: model.pkl}]}
  evaluate:
    cmd: python evaluate.py
    deps: [model.pkl, data/prepared/test.csv]
    metrics: [{metrics.json: {cache: false}}]
  report: {cmd: python report.py, deps: [metrics.json, model.pkl]}
`);
  expect(graph.kind).toBe('pipeline');
  expect(graph.nodes[1]).toEqual({
    id: 'prepare',
    label: 'prepare',
    type: 'stage',
    attributes: {
      cmd: 'python prepare.py',
      deps: './data/raw/digits.csv, prepare.py',
      params: 'seed, split',
    },
  });
  expect(arrows(graph)).toEqual([
    'fetch > prepare: data/raw/digits.csv',
    'prepare > train: data/prepared',
    'train > evaluate: model.pkl',
    'prepare > evaluate: data/prepared/test.csv',
    'evaluate > report: metrics.json',
    'train > report: model.pkl',
  ]);
  expect(graph.roots).toEqual(['fetch']);
  expect(graph.cycles).toEqual([]);
});

describe('the ways of others', () => {
  test.each([
    [
      'GitHub jobs',
      'jobs: {build: {runs-on: x}, test: {needs: build}, ship: {needs: [build, test]}}',
      ['build > test', 'build > ship', 'test > ship'],
    ],
    ['steps with depends_on', 'steps: [{id: a, run: x}, {id: b, depends_on: [a]}]', ['a > b']],
    [
      'depends_on in the long form',
      'stages: {a: {image: x}, b: {depends_on: {a: {condition: healthy}}}}',
      ['a > b'],
    ],
    ['needs in the long form', 'jobs: {a: {script: x}, b: {needs: [{job: a}]}}', ['a > b']],
    [
      'inputs and outputs',
      'steps: [{name: a, outputs: {model: out/m}}, {name: b, inputs: {m: out/m, a: x}}]',
      ['a > b: out/m'],
    ],
    [
      'Argo tasks',
      'spec: {templates: [{name: t}, {dag: {tasks: [{name: a, template: t}, {name: b, depends: "a && !c.Failed"}, {name: c, dependencies: [a]}]}}]}',
      ['a > b: a && !c.Failed', 'c > b: a && !c.Failed', 'a > c'],
    ],
    ['Tekton tasks', 'spec: {tasks: [{name: a}, {name: b, runAfter: [a]}]}', ['a > b']],
    [
      'Kubeflow templates',
      'pipeline: {steps: [{name: a, command: x}, {name: b, inputs: {x: "{{tasks.a.outputs.y}}", z: a.outputs.z}}]}',
      ['a > b: {{tasks.a.outputs.y}}, a.outputs.z'],
    ],
    ['Kubeflow tasks', 'root: {dag: {tasks: {a: {inputs: {}}, b: {dependentTasks: [a]}}}}', ['a > b']],
    [
      'steps in order',
      'steps: [{name: a, run: x}, {uses: some/action}, {run: y}]',
      ['a > step 2', 'step 2 > step 3'],
    ],
    ['steps as single keys', 'steps: [{a: {cmd: x}}, {b: {cmd: y}}]', ['a > b']],
    ['a document that is the list', '[{name: a, run: x}, {name: b, needs: a}]', ['a > b']],
    [
      'foreach',
      'stages: {a: {foreach: [1, 2], do: {cmd: x, outs: ["o-§{item}"]}}, b: {cmd: y, deps: ["o-§{item}"]}}',
      ['a > b: o-§{item}'],
    ],
    [
      'an output of several stages is of the first',
      'stages: {a: {outs: x}, b: {outs: x}, c: {deps: x}}',
      ['a > c: x'],
    ],
  ])('%s', (_, text, expected) => {
    const graph = graphOf(text);
    expect(graph.kind).toBe('pipeline');
    expect(arrows(graph)).toEqual(expected);
  });

  test.each([
    ['a number of steps', 'steps: 1000'],
    ['a schedule', 'scheduler: {x: 1}\nsteps: [30, 60, 90]'],
    ['widths of a network', 'stages: [{depth: 3, width: 64}, {depth: 4, width: 128}]'],
    ['names', 'stages: [build, test]'],
    ['no stages', 'stages: {}'],
  ])('%s: no pipeline', (_, text) => {
    expect(graphOf(text).kind).toBe('structure');
  });
});

test('names given twice, empty and endless are distinct nodes', () => {
  const { nodes } = graphOf(
    `steps: [{name: a, run: x}, {name: a, run: y}, {name: a#2, run: z}, {name: ${'n'.repeat(5000)}, run: x}]`,
  );
  expect(nodes.map(({ id }) => id)).toEqual(['a', 'a#2', 'a#2#2', '#3']);
  expect(nodes[3]?.label).toHaveLength(200);
  expect(graphOf('stages: {"": {cmd: x}, b: {deps: [nowhere, ""]}}').edges).toEqual([
    { source: '#0', target: 'b', label: '' },
  ]);
});

test('cycles and loops are found', () => {
  const graph = graphOf(
    'jobs: {a: {needs: c}, b: {needs: a}, c: {needs: b}, d: {needs: [c, d]}, e: {needs: d}}',
  );
  expect(graph.cycles).toEqual([['a', 'b', 'c'], ['d']]);
  expect(graph.roots).toEqual([]);
});

test('thousands of stages around one folder stay within bounds', () => {
  const stages = Array.from({ length: 5000 }, (_, i) => `  s${i}: {deps: [d], outs: [d/${i}]}`).join('\n');
  expect(graphOf(`stages:\n${stages}`).edges.length).toBeLessThan(40_000);
});
