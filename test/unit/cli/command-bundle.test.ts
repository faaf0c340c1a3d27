import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { bundleCommand } from '../../../functions/service/build-command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('the command holds the messages of its library in the language that it speaks alone', async () => {
  const { files } = await bundleCommand(root, 'package');

  const text = files.map(({ contents }) => new TextDecoder().decode(contents)).join('');
  expect(text).toContain('Invalid input');
  // German and French.
  expect(text).not.toMatch(/Ung(?:\\xFC|ü)ltige Eingabe|Entr(?:\\xE9|é)e invalide/);
});

test('a start of the package loads what its command needs', async () => {
  const { files } = await bundleCommand(root, 'package');

  const texts = new Map(files.map(({ path, contents }) => [path, new TextDecoder().decode(contents)]));
  const loaded = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const [, next = ''] of texts.get(path)?.matchAll(/(?:from|import)"\.\/([^"]+)"/g) ?? [])
      loaded(next, seen);
    return seen;
  };
  const textOf = (path: string) => [...loaded(path)].map((file) => texts.get(file) ?? '').join('');
  const hasYaml = (text: string) => text.includes('tag:yaml.org,2002:');
  expect(textOf('mps.mjs').length).toBeLessThan(250_000);
  expect(hasYaml(textOf('mps.mjs'))).toBe(false);
  expect(hasYaml(textOf([...texts.keys()].find((path) => path.startsWith('run-')) ?? ''))).toBe(true);
});

test('the command as one file refuses what needs others, and has the rest', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-alone-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { files } = await bundleCommand(root, 'alone');
  expect(files.map(({ path }) => path)).toEqual(['mps.mjs']);
  const program = join(folder, 'mps.mjs');
  await writeFile(program, files[0]?.contents ?? '');

  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [program, ...args], { cwd: folder });
  expect((await run('run', '--help')).stdout).toContain('mps run');
  await expect(run('ci', 'check')).rejects.toMatchObject({
    stderr: expect.stringContaining('Install mps.tgz'),
  });
});
