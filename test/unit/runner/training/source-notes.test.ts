import { lstat, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrainingRun } from '../../../../shared/runner/job/training-job.ts';
import { linkLeftOut, takeSourceNotes } from '../../../../shared/runner/training/source-notes.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mps-notes-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

/** A run of this data set, which says its lines into `said`. */
function runOf(
  dataset: { dataset: string | null; dataset_is_archive: boolean },
  said: string[] = [],
): TrainingRun {
  const workspace = { source: join(root, 'source'), data: join(root, 'data') };
  const shipper = { say: (line: string) => void said.push(line) };
  return { job: { record: dataset }, workspace, shipper, user: undefined } as unknown as TrainingRun;
}

const noData = { dataset: null, dataset_is_archive: false };

test('the notes of a source are read once, and their file is gone', async () => {
  await write({ 'source/app/train.py': '', 'source/.mps/source.json': '{"folder": "app"}' });

  const notes = await takeSourceNotes(runOf(noData));

  expect(notes).toEqual({ folder: 'app' });
  await expect(lstat(join(root, 'source/.mps'))).rejects.toThrow('ENOENT');
  expect(await takeSourceNotes(runOf(noData))).toEqual({});
});

test.each([
  ['{', 'it is not JSON'],
  ['{"folder": "../data"}', 'folder: must be a path inside the source, such as app or data/raw'],
  ['{"folder": "/etc"}', 'folder: must be a path inside the source'],
  ['{"folder": "none"}', 'folder: the source has no folder none'],
  ['{"left_out": [{"path": "a", "why": "x"}], "more": 1}', 'left_out.0.why: '],
  [`{"folder": "${'a'.repeat(70_000)}"}`, 'it has more than the allowed 65536 bytes'],
])('notes %s are refused', async (content, fault) => {
  await write({ 'source/app/train.py': '', 'data/x': '', 'source/.mps/source.json': content });
  await expect(takeSourceNotes(runOf(noData))).rejects.toThrow(fault);
});

const leftOut = (path: string, dataset: string) =>
  ({ left_out: [{ path, why: 'ignored', advice: 'mps data push …', dataset }] }) as const;
const notesOf = (path: string, dataset: string) => ({ left_out: [...leftOut(path, dataset).left_out] });

test('a data set is where the source leaves out the folder of its name, beside files of the source', async () => {
  await write({ 'source/set/raw/.gitkeep': '', 'data/x.csv': 'x', 'data/.gitkeep': 'other' });
  const said: string[] = [];
  const run = runOf({ dataset: 'raw', dataset_is_archive: true }, said);

  expect(await linkLeftOut(run, notesOf('set/raw/', 'raw'))).toBe('set/raw/');
  expect(await linkLeftOut(run, notesOf('new/raw/', 'raw'))).toBe('new/raw/');

  const read = (path: string) => readFile(join(root, 'source', path), 'utf8');
  expect(await read('set/raw/x.csv')).toBe('x');
  expect(await read('set/raw/.gitkeep')).toBe('');
  expect(await read('new/raw/x.csv')).toBe('x');
  expect(said[0]).toBe('The data set raw is at set/raw, which the source leaves out, and in DATA_DIR.');
});

test('a data set that is a file has the path of the file, and another one has none', async () => {
  await write({ 'source/train.py': '', 'data/w.pt': 'w' });
  const run = runOf({ dataset: 'w.pt', dataset_is_archive: false });

  expect(await linkLeftOut(run, notesOf('w.pt', 'w.pt'))).toBe('w.pt');
  expect(await linkLeftOut(run, notesOf('v.pt', 'v.pt'))).toBeUndefined();

  expect(await readFile(join(root, 'source/w.pt'), 'utf8')).toBe('w');
});
