import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { wheelFiles } from '../../../functions/service/build-wheel.ts';
import { everySample } from '../../support/samples.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../python');
const scratch = await mkdtemp(join(tmpdir(), 'python-package-'));
const python = join(scratch, 'venv/bin/python');

afterAll(() => rm(scratch, { recursive: true, force: true }));

test('the package passes its own tests', async () => {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const tests = ['-m', 'unittest', 'discover', '-t', root, '-s', join(root, 'tests')];

  const { stderr } = await run('python3', tests, { env });

  expect(stderr).toMatch(/Ran \d{2,} tests[\s\S]*\nOK\b/);
});

/** Whether pip gets the checker of types. `npm test` asks no package index. */
async function canGetMypy(): Promise<boolean> {
  if (!everySample) return false;
  try {
    await run('python3', ['-m', 'venv', join(scratch, 'venv')]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '0', 'mypy==2.4.1']);
    return true;
  } catch {
    return false;
  }
}

test.runIf(await canGetMypy())('the package has types without a fault, by the strict rules', async () => {
  // The wheel has the data classes, which the sources do not have.
  const whole = join(scratch, 'whole');
  for (const [path, text] of await wheelFiles(join(root, '..'), '')) {
    await mkdir(dirname(join(whole, path)), { recursive: true });
    await writeFile(join(whole, path), text);
  }
  const settings = ['--config-file', join(root, 'pyproject.toml'), '--cache-dir', join(scratch, 'mypy')];

  const { stdout } = await run(python, ['-m', 'mypy', ...settings], { cwd: whole });

  expect(stdout).toMatch(/^Success: no issues found/);
});
