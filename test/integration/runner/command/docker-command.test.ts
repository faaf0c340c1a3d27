import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TrainingJob } from '../../../../shared/runner/job/training-job.ts';
import type { Workspace } from '../../../../shared/runner/job/workspace.ts';
import { dockerCommand } from '../../../../shared/runner/training/docker-command.ts';
import { experimentOf } from '../../../support/experiment.ts';

const folder = await mkdtemp(join(tmpdir(), 'docker-command-'));
afterAll(() => rm(folder, { recursive: true }));

/** A client of an engine that notes its environment, its arguments, and the file of variables that it was given. */
const recorder = `#!/bin/sh
tr '\\0' '\\n' < /proc/$$/environ > ${folder}/environment
printf '%s\\n' "$@" > ${folder}/arguments
while [ $# -gt 0 ]; do
  if [ "$1" = --env-file ]; then cp "$2" ${folder}/file; stat -c %a "$2" > ${folder}/mode; fi
  shift
done
`;
await mkdir(join(folder, 'bin'));
await writeFile(join(folder, 'bin/docker'), recorder);
await chmod(join(folder, 'bin/docker'), 0o755);
await mkdir(join(folder, 'own'));

const within = (name: string) => join(folder, name);
const workspace = {
  own: within('own'),
  source: within('source'),
  config: within('config'),
  data: within('data'),
  output: within('output'),
  checkpoints: within('checkpoints'),
  home: within('home'),
  temporary: within('tmp'),
  metrics: within('metrics/metrics.jsonl'),
} as Workspace;
const job = {
  record: experimentOf('0'.repeat(26), null),
  container: { identity: { node: 0 }, marker: { name: 'MARKER', value: 'x' } },
} as TrainingJob;

/** What the client of the engine got for these variables of a project. */
async function given(project: Record<string, string>) {
  const own = { CONFIG_PATH: '/config' };
  const docker = await dockerCommand(job, workspace, 'image', ['true'], { own, project }, undefined);
  execFileSync('docker', docker.argv.slice(1), {
    env: { ...docker.env, PATH: `${folder}/bin:${docker.env['PATH']}` },
  });
  await docker.forget();
  const read = (name: string) => readFile(within(name), 'utf8');
  const [environment, args] = [await read('environment'), await read('arguments')];
  return { environment, args, file: await read('file'), mode: await read('mode') };
}

test('values of a project reach the container, and neither the client’s environment nor its command line', async () => {
  const { environment, args, file, mode } = await given({
    API_KEY: 'a secret = "value" # of $one line ',
    GODEBUG: 'http2debug=2',
    HTTPS_PROXY: 'http://proxy.example',
  });
  expect(file).toBe(
    'API_KEY=a secret = "value" # of $one line \nGODEBUG=http2debug=2\nHTTPS_PROXY=http://proxy.example\n',
  );
  expect(mode).toBe('600\n');
  for (const value of ['a secret', 'http2debug', 'proxy.example']) {
    expect(environment).not.toContain(value);
    expect(args).not.toContain(value);
  }
  expect(await readdir(workspace.own)).toEqual([]);
});

test('a name of the service reaches neither of them, however it came into the project', async () => {
  const hostile = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'DOCKER_HOST', 'NODE_OPTIONS', 'PATH', 'BASH_ENV'];
  const { environment, args, file } = await given({
    ...Object.fromEntries(hostile.map((name) => [name, '/hostile'])),
    ...Object.fromEntries(hostile.map((name) => [`${name}_`, `/hostile\nlines`])),
    LD_AUDIT: '/hostile\nlines',
    GODEBUG: 'hostile\nlines',
    KEY: 'a key',
  });
  expect(file).toBe('KEY=a key\n');
  for (const name of [...hostile, 'LD_AUDIT', 'GODEBUG'])
    expect(environment).not.toMatch(new RegExp(`^${name}=.*hostile`, 'm'));
  expect(args).not.toContain('hostile');
});

test('a value of several lines reaches the container as it is', async () => {
  const { environment, args } = await given({ KEY: 'x', CERTIFICATE: 'one\ntwo' });
  expect(environment).toContain('CERTIFICATE=one\ntwo\n');
  expect(args).toContain('--env\nCERTIFICATE\n');
});
