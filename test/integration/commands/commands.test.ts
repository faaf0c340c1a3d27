import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { proofs } from '../../proofs/proofs.ts';
import { sampled } from '../../support/samples.ts';

const root = join(import.meta.dirname, '../../..');
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));

/** These hand everything on to tools, whose help is theirs. */
const tools = ['test', 'check', 'fix'];
const own = Object.entries(scripts).filter(([name]) => !tools.includes(name));

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-home-'));
});
afterAll(() => rm(home, { recursive: true }));

/** Runs a command as a machine does on which nobody has ever set anything. */
async function run(name: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const command = `${(scripts[name] ?? '').replace(/^node infra\/install\.mjs && exec /, 'exec ')} "$@"`;
  const child = spawn('sh', ['-c', command, name, ...args], {
    cwd: root,
    env: {
      HOME: home,
      PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (error += chunk));
  const [code] = await once(child, 'close');
  return { code, out, error };
}

describe('every command', () => {
  test.each(sampled(own, 9))('%s says how it is used', async (name) => {
    const { code, out } = await run(name, ['--help']);
    expect(code).toBe(0);
    const asked = name === 'start' ? 'npm start' : `npm run ${name}`;
    expect(out.startsWith(`Usage: ${asked}`), out).toBe(true);
  });

  test.each(sampled(proofs, 12))('proof $name says how it is used', async ({ name }) => {
    const { code, out } = await run('proof', [name, '--help']);
    expect(code).toBe(0);
    expect(out.startsWith(`Usage: npm run proof -- ${name}`), out).toBe(true);
  });
});

describe('a command about a deployment', () => {
  const remote = sampled(['deploy', 'bootstrap', 'doctor', 'destroy', 'create-admin'], 5);

  test.each(remote)('%s says what to set where there is no region', async (name) => {
    const { code, error } = await run(name, []);
    expect(code).toBe(1);
    expect(error).toMatch(/^No AWS region\.\nSet AWS_REGION/);
    expect(error).not.toMatch(/^ +at /m);
  });

  test.each(remote)('%s says what to set where there are no credentials', async (name) => {
    const { code, error } = await run(name, ['-c', 'region=eu-central-1'], {
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    expect(code).toBe(1);
    expect(error).toMatch(/^No AWS credentials: .*\nSet AWS_PROFILE/);
    expect(error).not.toMatch(/^ +at /m);
  });

  test.each(sampled([...remote, 'synth', 'cost'], 3))('%s names options that there are not', async (name) => {
    const { code, error } = await run(name, ['-c', 'nmae=staging']);
    expect(code).toBe(1);
    expect(error).toMatch(/Unrecognized key: "nmae"/);
  });

  test('says how options are written', async () => {
    expect(await run('cost', ['-c', 'staging'])).toMatchObject({
      code: 1,
      error: expect.stringContaining('-c takes option=value, not "staging".'),
    });
  });
});
