import { expect, test } from 'vitest';
import {
  containerName,
  killCommand,
  wrapCommand,
} from '../../../../shared/runner/environment/container-command.ts';

const run = {
  name: containerName('01hzxexperiment', 1, 0),
  image: 'sha256:ab',
  user: { uid: 1001, gid: 1002 },
  cwd: '/job/source',
  mounts: [
    { source: '/data/a,"b"', target: '/data', readOnly: true },
    { source: '/tmp/out', target: '/output', readOnly: false },
  ],
  env: { CONFIG_PATH: '/job/config.yaml', ODD: '--privileged' },
  limits: { vcpus: 2, memory: 4096, gpus: 1 },
};

test('runs the command unprivileged under a name that stopping knows', () => {
  const argv = wrapCommand(['python', 'train.py', '--rm'], run);
  expect(argv.slice(0, 6)).toEqual([
    'docker',
    'run',
    '--rm',
    '--init',
    '--name',
    'training-01hzxexperiment-1-0',
  ]);
  expect(argv.slice(-6)).toEqual(['never', '--entrypoint', 'python', 'sha256:ab', 'train.py', '--rm']);
  const value = (option: string) => argv[argv.indexOf(option) + 1];
  expect([value('--user'), value('--cap-drop'), value('--memory'), value('--cpus'), value('--gpus')]).toEqual(
    ['1001:1002', 'ALL', '4096m', '2', '1'],
  );
  expect(argv).not.toContain('--privileged');
  expect(argv).toContain('ODD=--privileged');
  expect(killCommand(run.name, 'SIGKILL')).toEqual(['docker', 'kill', '--signal', 'SIGKILL', run.name]);
});

test('paths with commas and quotes stay one field of a mount', () => {
  const argv = wrapCommand(['true'], run);
  expect(argv).toContain('type=bind,"source=/data/a,""b""",target=/data,readonly');
  expect(argv).toContain('type=bind,source=/tmp/out,target=/output');
});

test('a name holds nothing that is not allowed in one', () => {
  expect(containerName('a b;c/../d', 2, 3)).toBe('training-a_b_c_.._d-2-3');
});
