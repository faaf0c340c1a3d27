import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { readCiFile } from '../../../../cli/ci/ci-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-ci-file-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function read(content: string) {
  await writeFile(join(folder, 'ci.yaml'), content);
  return readCiFile(folder, 'ci.yaml');
}
const faultsIn = async (content: string): Promise<string[]> => {
  const message = await read(content).then(
    () => 'nothing is wrong',
    (error: Error) => error.message,
  );
  return message.split('\n').slice(1);
};

test('all faults of a file come at once, in the order of its lines', async () => {
  const faults = await faultsIn(`modle: model.onnx
run: { comand: x, budget: -1 }
repeats: 99
gates:
  - "bytes <="
  - 3
compress:
  strategy: nope
  precison: 8
against: a..b
`);

  expect(faults).toEqual([
    '  line 1: modle: unknown. Did you mean model?',
    '  line 2: run.budget: must be US dollars above 0',
    '  line 2: run.comand: unknown. Did you mean command?',
    '  line 3: repeats: must be a whole number from 1 to 20',
    expect.stringMatching(/^ {2}line 5: gate "bytes <=": at character 9 the text ends/),
    '  line 6: gates.1: must be text; numbers and dates need quotes',
    '  line 7: compress: needs model.',
    expect.stringMatching(/^ {2}line 8: compress\.strategy: must be one of dynamic, /),
    '  line 9: compress.precison: unknown. Did you mean precision?',
    '  line 10: against: must be the name of a branch, such as main.',
  ]);
});

test.for([
  {
    what: 'a key that comes twice hides no other fault',
    content: 'model: a\nmodel: b\ngates: [3]\n',
    lines: [2, 3],
  },
  { what: 'each tab', content: 'model: a\n\tgates: [x]\n\trun: x\n', lines: [2, 3] },
  { what: 'a second document', content: 'model: a\ngates: ["bytes <= 1MB"]\n---\nmodel: b\n', lines: [3] },
])('$what is told with its line', async ({ content, lines }) => {
  expect((await faultsIn(content)).map((fault) => Number(/line (\d+)/.exec(fault)?.[1]))).toEqual(lines);
});

test('an empty file, one that is no mapping, a bomb and one that is too large say what is wrong', async () => {
  const ten = (name: string) => `[${Array(10).fill(name).join(', ')}]`;
  const bomb = `a: &a ${ten('x')}\nb: &b ${ten('*a')}\nc: &c ${ten('*b')}\nd: ${ten('*c')}\n`;

  expect(await faultsIn('')).toEqual([
    '  gates: is required: it must be a list of 1 to 50 conditions, such as ["bytes <= base"]',
    '  one of run, experiment and model is required.',
  ]);
  expect(await faultsIn('- a\n')).toEqual(['  the file: must be a mapping, such as model: model.onnx']);
  expect(await faultsIn(bomb)).toEqual([expect.stringContaining('Excessive alias count')]);
  expect(await faultsIn(`# ${'x'.repeat(100_000)}`)).toEqual(['  the file has more than 100000 bytes.']);
});

test('anchors are read, and a good file has its gates', async () => {
  const plan = await read('model: &name model.onnx\nbase: *name\ngates: ["bytes <= base"]\n');

  expect(plan).toMatchObject({ model: 'model.onnx', base: 'model.onnx', gates: [{ metric: 'bytes' }] });
});
