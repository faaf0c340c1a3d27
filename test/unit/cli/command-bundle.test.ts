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

test('the command calls nothing that Node 20 lacks, though newer ones run its tests', async () => {
  const { files } = await bundleCommand(root, 'package');

  const text = files.map(({ contents }) => new TextDecoder().decode(contents)).join('\n');
  const newer =
    /\b(?:(?:Map|Object)\.groupBy|Array\.fromAsync|RegExp\.escape|Promise\.(?:withResolvers|try)|Iterator\.(?:from|concat)|Math\.sumPrecise|Error\.isError|Uint8Array\.from(?:Base64|Hex))\b/g;
  expect(text).toContain('Invalid input');
  expect([...text.matchAll(newer)].map(([name]) => name)).toEqual([]);
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
  const fileOf = (name: string) => [...texts.keys()].find((path) => path.startsWith(`${name}-`)) ?? '';
  expect(textOf('mps.mjs').length).toBeLessThan(15_000);
  expect(textOf(fileOf('main')).length).toBeLessThan(250_000);
  expect(hasYaml(textOf(fileOf('main')))).toBe(false);
  expect(hasYaml(textOf(fileOf('run')))).toBe(true);
});

/** The command as npm installs it. */
async function installed() {
  const folder = await mkdtemp(join(tmpdir(), 'mps-package-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { files } = await bundleCommand(root, 'package');
  for (const { path, contents } of files) await writeFile(join(folder, path), contents);
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)(process.execPath, [join(folder, 'mps.mjs'), ...args], {
      cwd: folder,
      env: { HOME: folder, ...env },
    });
  return { folder, names: files.map(({ path }) => path), run };
}

test('the help of the package names all commands, and loads none', async () => {
  const { folder, names, run } = await installed();
  for (const name of names.filter((one) => one.startsWith('main-'))) await rm(join(folder, name));

  const texts = await Promise.all([['--help'], ['-h'], []].map(async (args) => (await run(args)).stdout));

  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toMatch(/COMMANDS\n {2}run [\s\S]* {2}completion /);
});

test('an installation that lacks a file says in one sentence how to get the whole', async () => {
  const { folder, names, run } = await installed();
  const lost = names.find((name) => name.startsWith('whoami-')) ?? '';
  await rm(join(folder, lost));

  const failing = run(['whoami'], { MPS_URL: 'http://127.0.0.1:3000/' });

  await expect(failing).rejects.toMatchObject({
    code: 1,
    stderr: `mps is incomplete: its file ${lost} is missing or of another version. Install the whole: npm install -g http://127.0.0.1:3000/cli/mps.tgz\n`,
  });
});

test('the command as one file refuses what needs others, and has the rest', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-alone-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { files } = await bundleCommand(root, 'alone');
  expect(files.map(({ path }) => path)).toEqual(['mps.mjs']);
  const program = join(folder, 'mps.mjs');
  await writeFile(program, files[0]?.contents ?? '');

  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [program, ...args], {
      cwd: folder,
      env: { HOME: folder, MPS_URL: 'http://127.0.0.1:3000' },
    });
  expect((await run('run', '--help')).stdout).toContain('mps run');
  const whole = 'Install the whole: npm install -g http://127.0.0.1:3000/cli/mps.tgz\n';
  await expect(run('ci', 'check')).rejects.toMatchObject({
    stderr: `mps ci check is not in this one file. ${whole}`,
  });
  await expect(run('import', '--from', 'comet', folder)).rejects.toMatchObject({
    stderr: `mps import --from is not in this one file. ${whole}`,
  });
  await expect(run('measure', program)).rejects.toMatchObject({ stderr: expect.stringContaining(whole) });
});
