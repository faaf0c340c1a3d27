import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildCommand } from '../../../../cli/build-command.ts';
import type { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as requestDatasetUpload } from '../../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { Client } from '../../../../shared/client/client.ts';
import { type Figure, figure, median } from '../figure.ts';
import type { Bench, Group } from '../group.ts';
import { projectText } from '../project-records.ts';
import { projectRoot, startService } from '../service-process.ts';
import { runMps, runProgram } from './command-run.ts';
import { startTimingRelay } from './timing-relay.ts';

const repeats = 9;
const files = 200;
const gigabyte = 1_000_000_000;
const lines = 1_000_000;

interface Place {
  url: string;
  token: string;
  bench: Bench;
}

const environment = ({ url, token, bench }: Place) => ({
  HOME: join(bench.folder, 'home'),
  MPS_URL: url,
  MPS_TOKEN: token,
});

async function folderOf(
  bench: Bench,
  name: string,
  contents: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(bench.folder, name);
  await mkdir(folder, { recursive: true });
  for (const [file, content] of Object.entries(contents)) await writeFile(join(folder, file), content);
  return folder;
}

async function helpFigure({ bench }: Place): Promise<Figure> {
  const seconds: number[] = [];
  for (let round = 0; round < repeats; round += 1)
    seconds.push((await runMps(['--help'], { folder: bench.folder, env: {} })).seconds);
  return figure('mps --help, median', median(seconds), 's', { atMost: 0.3 });
}

/** `mps run -d` on a folder that the service knows, without the time in which the service works. */
async function submitFigure(place: Place): Promise<Figure> {
  const { bench } = place;
  bench.say(`${files} files, unchanged`);
  const contents = Array.from({ length: files }, (_, index): [string, string] => [
    `part${index}.py`,
    `value = ${index}\n`.repeat(200),
  ]);
  const folder = await folderOf(bench, 'unchanged', { 'train.py': '', ...Object.fromEntries(contents) });
  const relay = await startTimingRelay(place.url);
  try {
    const run = () => runMps(['run', '-d'], { folder, env: environment({ ...place, url: relay.url }) });
    await run();
    const own: number[] = [];
    for (let round = 0; round < repeats; round += 1) {
      relay.takeBusySeconds();
      const { seconds } = await run();
      own.push(seconds - relay.takeBusySeconds());
    }
    return figure(
      'mps run of 200 unchanged files until submitted, without the service’s time, median',
      median(own),
      's',
      {
        atMost: 1,
      },
    );
  } finally {
    relay.close();
  }
}

/** 1 GB by `mps data push` beside the same by hand: the digest that the service asks for, then curl. */
async function uploadFigures(place: Place): Promise<Figure[]> {
  const { bench, url, token } = place;
  bench.say('1 GB');
  const folder = await folderOf(bench, 'data', {});
  const client = new Client({ url, token });
  const project = await client.call<typeof createProject>('POST /projects/', { query: projectText });
  const { project_id } = project;
  const block = Buffer.alloc(1_000_000, 'a line of data\n');
  const write = async (name: string, first: string): Promise<string> => {
    const path = join(folder, name);
    block.write(first);
    await writeFile(
      path,
      (function* blocks() {
        for (let at = 0; at < gigabyte; at += block.length) yield block;
      })(),
    );
    return path;
  };
  const env = environment(place);
  const byHand: number[] = [];
  const curlAlone: number[] = [];
  const pushed: number[] = [];
  let memory = 0;
  for (const round of [1, 2, 3]) {
    const hand = await write('hand.bin', `by hand ${round} `);
    const digest = await runProgram(['sha256sum', hand], { folder, env });
    const sha256 = digest.stdout.slice(0, 64);
    const route = 'POST /projects/{project_id}/datasets/{dataset}';
    const request = { path: { project_id, dataset: 'hand' }, query: { sha256, size: gigabyte } };
    const { upload } = await client.call<typeof requestDatasetUpload>(route, request);
    if (upload === null) throw new Error('the service wants a file of 1 GB in parts');
    const headers = Object.entries(upload.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const curl = await runProgram(['curl', '-sSf', '-T', hand, ...headers, upload.url], { folder, env });
    curlAlone.push(curl.seconds);
    byHand.push(digest.seconds + curl.seconds);
    const own = await write('own.bin', `by mps ${round} `);
    const run = await runMps(['data', 'push', 'own', own, '-p', project_id], { folder, env });
    pushed.push(run.seconds);
    memory = Math.max(memory, run.memory);
  }
  const [mps, hand, curl] = [median(pushed), median(byHand), median(curlAlone)];
  return [
    figure('1 GB by mps data push over sha256sum and curl -T, medians of 3', mps / hand, '×', {
      atMost: 1.3,
      remark: `${mps.toFixed(1)} s, ${hand.toFixed(1)} s; over curl -T alone ${(mps / curl).toFixed(2)} ×`,
    }),
    figure('Memory of mps meanwhile', memory / 1e6, 'MB', { atMost: 150 }),
  ];
}

/** How long after it was printed each line comes out of `mps run`. */
async function latencyFigure(place: Place): Promise<Figure> {
  const { bench } = place;
  bench.say('lines as they are printed');
  const program = `import time
for line in range(20):
    print(f'at {time.time()}', flush=True)
    time.sleep(0.37)
`;
  const folder = await folderOf(bench, 'latency', { 'train.py': program });
  const delays: number[] = [];
  await runMps(['run'], {
    folder,
    env: environment(place),
    onOutput(chunk) {
      for (const [, time] of chunk.matchAll(/^at ([\d.]+)$/gm)) delays.push(Date.now() / 1000 - Number(time));
    },
  });
  return figure('A log line after it was printed, slowest', Math.max(...delays), 's', {
    atMost: 1.5,
    remark: `${delays.length} lines, median ${median(delays).toFixed(2)} s`,
  });
}

async function floodFigures(place: Place): Promise<Figure[]> {
  const { bench } = place;
  bench.say('1,000,000 lines');
  const program = `import sys
for line in range(${lines}):
    sys.stdout.write(f'{line} loss 0.123456\\n')
`;
  const folder = await folderOf(bench, 'flood', { 'train.py': program });
  let next = 0;
  let rest = '';
  const run = await runMps(['run'], {
    folder,
    env: environment(place),
    onOutput(chunk) {
      const all = `${rest}${chunk}`.split('\n');
      rest = all.pop() ?? '';
      for (const line of all) if (line === `${next} loss 0.123456`) next += 1;
    },
  });
  return [
    figure('A million lines followed by mps run: in order, without loss', next, '', { atLeast: lines }),
    figure('The same, from Enter to the end', run.seconds, 's', {
      remark: `memory of mps ${(run.memory / 1e6).toFixed(0)} MB`,
    }),
  ];
}

/** What a person at a terminal waits for. */
export const commandLine: Group = {
  name: 'cli',
  title: 'The command mps',

  async measure(bench) {
    await buildCommand(projectRoot, join(projectRoot, '.build/cli'));
    const service = await startService(join(bench.folder, 'service'));
    bench.started.defer(() => service.stop());
    const { token } = await service.signIn();
    const place = { url: service.url, token, bench };
    return [
      await helpFigure(place),
      await submitFigure(place),
      await latencyFigure(place),
      ...(await floodFigures(place)),
      ...(await uploadFigures(place)),
    ];
  },
};
