import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { notebookCommand, notebookEnvironment } from '../../../cli/run/notebook.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-notebook-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const command = notebookCommand(['train.ipynb']);
const python = {
  env_type: 'python',
  dependencies: '-r requirements.txt',
  reason: 'requirements.txt',
} as const;
const notebookOf = (language: string) =>
  JSON.stringify({ cells: [], metadata: { language_info: { name: language } }, nbformat: 4 });

test('the environment of a notebook has what executes it, besides its own packages', async () => {
  await writeFile(join(folder, 'train.ipynb'), notebookOf('python'));

  const own = await notebookEnvironment(folder, python, command);
  const none = await notebookEnvironment(
    folder,
    { env_type: 'node', dependencies: 'a', reason: 'x' },
    command,
  );
  const script = await notebookEnvironment(folder, python, 'python papermill.py');

  expect(own).toEqual({
    ...python,
    dependencies: '-r requirements.txt\npapermill\nipykernel',
    reason: 'requirements.txt, and papermill',
  });
  expect(none).toMatchObject({ env_type: 'python', dependencies: 'papermill\nipykernel' });
  expect(script).toBe(python);
});

test('requirements with hashes must have what executes a notebook, because pip refuses others', async () => {
  await writeFile(join(folder, 'train.ipynb'), notebookOf('python'));
  const hash = `--hash=sha256:${'0'.repeat(64)}`;
  const write = (...names: string[]) =>
    writeFile(
      join(folder, 'requirements.txt'),
      names.map((name) => `${name}==1.0 \\\n    ${hash}\n`).join(''),
    );

  await write('six', 'papermill');
  const refused = notebookEnvironment(folder, python, command);
  await expect(refused).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('needs ipykernel with hashes, too'),
  });
  await write('six', 'papermill', 'ipykernel');
  const whole = await notebookEnvironment(folder, python, command);

  expect(whole.dependencies).toBe('-r requirements.txt');
});

test('an image has what it needs itself', async () => {
  const image = { env_type: 'docker', dependencies: 'me/image', reason: 'mps.yaml says so' } as const;
  expect(await notebookEnvironment(folder, image, command)).toBe(image);
});

test.each([
  [undefined, 'train.ipynb: there is no such notebook.'],
  ['print(1)', 'train.ipynb: is no notebook: it is not JSON.'],
  ['{"worksheets": []}', 'train.ipynb: is no notebook: it has no list of cells.'],
  [notebookOf('R'), 'train.ipynb: is a notebook of R; notebooks of Python are executed.'],
])('%s is refused before anything is sent', async (content, message) => {
  if (content !== undefined) await writeFile(join(folder, 'train.ipynb'), content);
  await expect(notebookEnvironment(folder, python, command)).rejects.toMatchObject({ message, exitCode: 2 });
});
