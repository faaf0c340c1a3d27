import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { readDataLimit } from '../../../infra/local/start/data-size.ts';
import { signIn } from '../../../infra/tools/demo/demo-service.ts';
import type { Client } from '../../../shared/client/client.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { startLocalService } from '../../support/local-service.ts';
import { tinyWheel } from '../bench/tiny-wheel.ts';
import { type Experiment, TrainingProject } from '../bench/training-project.ts';

/*
 * `npm run proof -- data-limit`: fifty projects, each with a package of its own, whose environments together exceed the
 * limit of the data folder by far. Half of the time one of them trains while those after it are built and others removed,
 * and every third time an earlier one trains again. The folder is measured all the time.
 */
const run = promisify(execFile);
const password = 'a long sentence nobody guesses';
const limitText = '1GB';
const usage = `Usage: npm run proof -- data-limit [-- --projects 50] [-- --megabytes 60]
  trains projects one after the other below --data-limit ${limitText}, and measures the data folder
  --projects   how many
  --megabytes  of the package that each of them has`;

/** Packages of PyPI that several projects share. */
const published = ['six==1.17.0', 'attrs==25.3.0', 'idna==3.10', 'tomli==2.2.1'];

/** Projects that are built while one of them goes on training: together more than the limit. */
const heldFor = 25;

/** Every file of the package is there, all the time while it holds. */
const program = (name: string) => `
import os, time, ${name}
folder = os.path.dirname(${name}.__file__)
def count():
    return sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder) if file.endswith(".txt"))
whole = count()
print("bytes", whole, flush=True)
while "hold: true" in open(os.environ["CONFIG_PATH"]).read():
    assert count() == whole, "a file of an environment in use is gone"
    time.sleep(0.2)
`;

async function makeProject(client: Client, index: number, megabytes: number): Promise<TrainingProject> {
  const name = `package${index}`;
  // It compresses well, so that what the service keeps for ever stays small.
  const text = `${name} `.repeat(Math.ceil(1_000_000 / (name.length + 1)));
  const more = Object.fromEntries(Array.from({ length: megabytes }, (_, part) => [`${part}.txt`, text]));
  const { path, bytes } = await tinyWheel(name, more);
  return TrainingProject.create(client, {
    command: 'python train.py',
    files: { 'train.py': program(name), [path]: bytes },
    env_type: 'python',
    dependencies: `./${path}\n${published[index % published.length]}`,
  });
}

async function main(): Promise<number> {
  const { values: flags } = readFlags(usage, {
    options: {
      projects: { type: 'string', default: '50' },
      megabytes: { type: 'string', default: '60' },
    },
  });
  const [count, megabytes] = [Number(flags.projects), Number(flags.megabytes)];
  const limit = readDataLimit(limitText) ?? 0;
  // Jobs have a /tmp of their own, and then environments would lie elsewhere.
  await mkdir('node_modules/.cache', { recursive: true });
  const folder = await mkdtemp(resolve('node_modules/.cache/data-limit-'));
  await using undo = new AsyncDisposableStack();
  undo.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await run('chmod', ['755', folder]);
  const data = join(folder, 'data');
  const service = await startLocalService(['--data', data, '--data-limit', limitText], {
    ADMIN_PASSWORD: password,
  });
  if (!('url' in service)) throw new CommandError(service.output);
  undo.defer(async () => void (await service.end('SIGTERM')));
  const { client } = await signIn(service.url, { username: 'admin', password });
  const scale = watchSize(data);
  undo.defer(() => scale.stop());

  const projects: TrainingProject[] = [];
  const faults: string[] = [];
  const uses = { hit: 0, miss: 0, none: 0 };
  let held: { begun: Experiment; by: TrainingProject } | undefined;
  const release = async (): Promise<void> => {
    if (held === undefined) return;
    const { begun, by } = held;
    const { status, status_reason } = await by.read(begun);
    // It ends by itself only if it misses a file.
    if (status !== 'RUNNING') faults.push(`a training in use became ${status}: ${status_reason}`);
    await client.call<typeof cancelExperiment>(
      'POST /projects/{project_id}/experiments/{experiment_id}/cancel',
      { path: { project_id: begun.project_id, experiment_id: begun.experiment_id } },
    );
    held = undefined;
  };
  for (let index = 0; index < count; index += 1) {
    const project = await makeProject(client, index, megabytes);
    projects.push(project);
    await project.succeeded(await project.train());
    if (index % heldFor === 0) {
      await release();
      await project.configure('hold: true\n');
      held = { begun: await project.train(), by: project };
      await project.configure('hold: false\n');
    }
    if (index % 3 === 2) {
      // A recent one, and one that is long gone, in turns.
      const back = index % 2 === 0 ? 2 : Math.min(index, 20);
      const again = projects[index - back] ?? project;
      const { environment_cache } = await again.succeeded(await again.train());
      uses[environment_cache ?? 'none'] += 1;
      if (back === 2 && environment_cache !== 'hit')
        faults.push(
          `the environment of project ${index - back} went, though two others alone were used since`,
        );
    }
    if (index % 5 === 4) {
      const { stdout } = await run('find', [join(data, 'environments'), '-name', '*.complete']);
      const there = stdout
        .split('\n')
        .filter((line) => line !== '' && !line.includes('/environments/.')).length;
      say(
        `${index + 1} projects: ${bytesText(scale.last)}, ${there} environments; at most ${bytesText(scale.most)}`,
      );
    }
  }
  await release();
  if (scale.most > limit) faults.push(`the folder had ${bytesText(scale.most)}`);
  const together = count * megabytes * 1e6;
  say(
    `${count} environments of together ${bytesText(together)}; trained again: ${uses.hit} with their environment, ${uses.miss} with a new one.`,
  );
  say(
    `The data folder had at most ${bytesText(scale.most)} of ${bytesText(limit)} in ${scale.count} measurements.`,
  );
  for (const line of service
    .output()
    .split('\n')
    .filter((text) => text.startsWith('WARNING')))
    say(line);
  for (const fault of faults) say(`FAULT: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

/** Measure a folder again and again, without the folders of runs. A file with several names counts once. */
function watchSize(folder: string) {
  const scale = { last: 0, most: 0, count: 0, stop };
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) {
      // It ends with 1 if a file goes while it looks.
      const { stdout } = await run('du', ['-s', '--block-size=1', '--exclude=work', folder]).catch(
        (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
      );
      scale.last = Number.parseInt(stdout, 10) || scale.last;
      scale.most = Math.max(scale.most, scale.last);
      scale.count += 1;
      await new Promise((done) => setTimeout(done, 200));
    }
  })();
  async function stop(): Promise<void> {
    isStopped = true;
    await watching;
  }
  return scale;
}

const say = (text: string) => process.stdout.write(`${text}\n`);

await runMain(main);
