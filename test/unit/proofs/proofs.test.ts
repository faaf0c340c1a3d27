import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
