import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { containerTraining } from './container-jobs.ts';
import { jobImage } from './job-image.ts';
import { jobLabel } from './job-network.ts';
import { outputOf } from './run-program.ts';

const started: string[] = [];
afterEach(() => {
  for (const id of started.splice(0)) outputOf('docker', ['rm', '--force', id]);
});

function inImage(entryPoint: string, ...args: string[]): string {
  const common = ['run', '--rm', '--label', jobLabel, '--network', 'none', '--entrypoint', entryPoint];
  return outputOf('docker', [...common, jobImage, ...args]);
}

/** What the image starts for every job, before the job's own file. */
const entryPoint = z
  .array(z.string())
  .parse(
    JSON.parse(outputOf('docker', ['image', 'inspect', '--format', '{{json .Config.Entrypoint}}', jobImage])),
  );

/** Leaves orphans behind that have ended, and looks for them until no zombie is left. */
const orphans = `
import os, time
def states():
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            found.append(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0])
        except OSError:
            pass
    return found
for _ in range(200):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.setsid()
        os._exit(0)
    os.waitpid(child, 0)
while True:
    zombies = [state for state in states() if state == 'Z']
    if not zombies: break
    time.sleep(0.05)
print('zombies left:', len(zombies), flush=True)
`;

describe('PID 1 of the job image', () => {
  test('collects the orphans that a command leaves', async () => {
    const service = await containerTraining();
    const project_id = await service.project({
      command: 'python3 orphans.py',
      files: { 'orphans.py': orphans },
    });
    const query = { config: 'train.yaml' };
    const begun = await service.call(train, { path: { project_id }, query, as: service.developer });
    const ended = await service.ended(project_id, begun.json.experiment_id);
    const log = await service.log(project_id, begun.json.experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED' });
    expect(log).toContain('zombies left: 0');
  });

  test('hands SIGTERM to a program that does not handle it yet', () => {
    // As PID 1 itself it would never learn of the signal.
    const id = outputOf('docker', [
      ...['run', '--detach', '--label', jobLabel, '--network', 'none', '--entrypoint', entryPoint[0] ?? ''],
      ...[jobImage, ...entryPoint.slice(1, -1), '-e', 'setInterval(() => {}, 1000)'],
    ]).trim();
    started.push(id);
    outputOf('docker', ['kill', '--signal', 'TERM', id]);
    expect(outputOf('docker', ['wait', id])).toBe('143\n');
  });
});

describe('the job image', () => {
  test('holds the pinned Node, Python, uv, npm and the native libraries of the jobs', () => {
    expect(inImage('node', '--version').trim()).toBe(process.version);
    expect(inImage('python3', '--version')).toMatch(/^Python 3\.\d+/);
    expect(inImage('uv', '--version')).toMatch(/^uv \d/);
    expect(inImage('npm', '--version')).toMatch(/^\d+\./);
    const load =
      'const { InferenceSession } = require("onnxruntime-node"); console.log(typeof InferenceSession.create)';
    expect(inImage('node', '-e', load).trim()).toBe('function');
  });

  test('has no build tools, no package lists and no set-user-id programs', () => {
    const tools = 'for tool in gcc cc make pip pip3 git; do command -v $tool; done; true';
    expect(inImage('sh', '-c', tools)).toBe('');
    expect(inImage('sh', '-c', 'ls /var/lib/apt/lists')).toBe('');
    expect(inImage('find', '/', '-xdev', '-type', 'f', '-perm', '/6000')).toBe('');
  });
});
