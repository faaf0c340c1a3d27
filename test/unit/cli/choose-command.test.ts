import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readProjectFile } from '../../../cli/projects/project-file.ts';
import { chooseCommand } from '../../../cli/run/choose-command.ts';
import { splitCommand } from '../../../shared/command/parse-command.ts';

const nothing = { words: [], command: undefined, before: undefined };

test('what stands after -- reaches the program word by word, whatever it holds', () => {
  const words = ['python', 'train.py', '--name', "it's two words", '', '$HOME', 'a"b', '{config}'];
  const command = chooseCommand(new Set(), 'system', { ...nothing, words });
  expect(splitCommand(command).words).toEqual(words);
});

const executed = (notebook: string) =>
  `papermill ${notebook} ${notebook} --kernel python3 --no-progress-bar --log-level ERROR --stdout-file - --stderr-file -`;

test.each([
  { files: ['train.py'], env_type: 'python', command: 'python train.py' },
  { files: ['main.py'], env_type: 'system', command: 'python3 main.py' },
  { files: ['train.mjs'], env_type: 'node', command: 'node train.mjs' },
  { files: ['train.ts'], env_type: 'system', command: 'node train.ts' },
  {
    files: ['a.py', 'explore.ipynb', 'old/explore.ipynb'],
    env_type: 'system',
    command: executed('explore.ipynb'),
  },
  { files: ['a.ipynb', 'train.ipynb'], env_type: 'python', command: executed('train.ipynb') },
  { files: ['train.sh'], env_type: 'system', command: 'sh train.sh' },
] as const)('$files is run by $command', ({ files, env_type, command }) => {
  expect(chooseCommand(new Set(files), env_type, nothing)).toBe(command);
});

test('mps.yaml comes before what ran before, and that before the usual program', () => {
  const files = new Set(['train.py']);
  const given = { words: [], command: 'a', before: 'b' };
  expect(chooseCommand(files, 'system', given)).toBe('a');
  expect(chooseCommand(files, 'system', { ...given, command: undefined })).toBe('b');
});

test('each example runs by the command that the table of examples names, with its configuration', async () => {
  const examples = join(import.meta.dirname, '../../examples');
  const table = await readFile(join(examples, 'README.md'), 'utf8');
  const rows = [
    ...table.matchAll(/^\| \[(?<name>\w+)\].* \| `(?<entry>[^`]+)` \| `(?<type>system|python)`/gm),
  ].map(({ groups = {} }) => groups);
  expect(rows.map(({ name }) => name)).toEqual(['hello', 'resume', 'digits']);
  for (const { name = '', entry, type } of rows) {
    const { command } = await readProjectFile(join(examples, name));
    const env_type = type === 'python' ? type : 'system';
    expect(chooseCommand(new Set(['train.py']), env_type, { ...nothing, command })).toBe(entry);
  }
});

test('a notebook is executed in its folder, with the parameters after it', () => {
  const words = ['nb/my train.ipynb', '-p', 'lr', '0.1'];
  const command = chooseCommand(new Set(), 'system', { ...nothing, words });
  expect(command).toContain("papermill 'nb/my train.ipynb' 'nb/my train.ipynb' --cwd nb --kernel python3 ");
  expect(command).toMatch(/ -p lr 0\.1$/);
  const said = chooseCommand(new Set(), 'system', { ...nothing, command: 'train.ipynb' });
  expect(said).toBe(executed('train.ipynb'));
});

test('two notebooks are no program', () => {
  const files = new Set(['a.ipynb', 'b.ipynb']);
  expect(() => chooseCommand(files, 'system', nothing)).toThrow('train.ipynb, main.ipynb or one notebook');
});

test('a folder without a program says how to name one', () => {
  expect(() => chooseCommand(new Set(['notes.txt']), 'system', nothing)).toThrow(
    'mps run -- python train.py',
  );
});

test('the command of MLproject comes after what ran before, unless it gets a value', () => {
  const declared = (isGiven: boolean) => ({ command: 'python a.py 1', isGiven });
  const choose = (before: string | undefined, project: Parameters<typeof chooseCommand>[2]['declared']) =>
    chooseCommand(new Set(['train.py']), 'system', { ...nothing, before, declared: project });

  expect(choose('b', declared(false))).toBe('b');
  expect(choose('b', declared(true))).toBe('python a.py 1');
  expect(choose(undefined, declared(false))).toBe('python a.py 1');
  expect(choose('b', { fault: 'alpha has no default' })).toBe('b');
  expect(() => choose(undefined, { fault: 'alpha has no default' })).toThrow('alpha has no default');
});

test.each([
  [
    ['a.ipynb', 'b.ipynb', 'setup.py', 'test_a.py', 'evolve one.py', 'lib/train.py'],
    "mps run -- a.ipynb, or mps run -- b.ipynb, or mps run -- python 'evolve one.py'",
  ],
  [
    ['a.py', 'b.py', 'c.py', 'training_cora.py'],
    'mps run -- python training_cora.py, or mps run -- python a.py, or mps run -- python b.py',
  ],
  [['README.md'], 'mps run -- python train.py --epochs 5'],
])('a folder with %j gets commands of its own programs to choose from', (files, advice) => {
  expect(() => chooseCommand(new Set(files), 'system', nothing)).toThrow(`Tell mps what to run: ${advice}`);
});
