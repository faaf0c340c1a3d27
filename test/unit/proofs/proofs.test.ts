import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { proofs } from '../../proofs/proofs.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const proof = (...args: string[]) => run(process.execPath, ['test/proofs/run.ts', ...args], { cwd: root });

test('every proof has a program that is there, and a name of its own', () => {
  expect(proofs.filter(({ program }) => !existsSync(join(root, program)))).toEqual([]);
  expect(new Set(proofs.map(({ name }) => name)).size).toBe(proofs.length);
});

test('without a name, the proofs are listed', async () => {
  const { stdout } = await proof();
  for (const { name, about } of proofs)
    expect(stdout).toMatch(new RegExp(`^  ${name} +${about.slice(0, 20)}`, 'm'));
});

test('an unknown name is refused with the names that are there', async () => {
  await expect(proof('benhc')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no proof "benhc"'),
  });
});

test('the scripts find the programs of the project and its root', () => {
  const scripts = globSync('test/proofs/**/*.sh', { cwd: root });
  expect(scripts.length).toBeGreaterThan(5);
  const astray = scripts.flatMap((script) => {
    const text = readFileSync(join(root, script), 'utf8');
    const place = /^root=.*?((?:\/\.\.)+)|(?:\$here)((?:\/\.\.)+)(?=\/(?:node_modules|\.data))/gm;
    return [...text.matchAll(place)]
      .map(([, own = '', there = own]) => relative(root, resolve(root, dirname(script), `.${there}`)))
      .filter((found) => found !== '')
      .map((found) => `${script}: ${found}`);
  });
  expect(astray).toEqual([]);
});
