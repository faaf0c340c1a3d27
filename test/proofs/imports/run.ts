import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mpsBundle } from '../bench/cli/command-run.ts';
import { descendants } from '../bench/descendants.ts';
import { projectRoot, startService } from '../bench/service-process.ts';

/*
 * The processor time of `mps import` and of all processes of the service together, for a small run and for a point. It depends
 * less on other work of the machine than the time of day; what two idle cores do in a second follows from it. Linux only.
 */

/** Write runs of a program that recorded offline, each with five metrics at each step, and a file. */
async function record(folder: string, project: string, runs: number, steps: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    const id = `${Buffer.from(project).toString('hex')}${run}`.padStart(32, '0');
    const own = join(folder, '.mps/offline', id);
    const metrics = (step: number) =>
      Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((name, at) => [`train/${name}`, Math.sin(step / 50 + at)]),
      );
    const lines = [
      {
        mps: 1,
        id,
        project,
        name: `run ${run}`,
        user: 'ada',
        host: 'elsewhere',
        pid: 1,
        at: 1_700_000_000_000,
      },
      { at: 1_700_000_000_000, params: { lr: '0.1', depth: '3', seed: String(run), data: 'digits' } },
      ...Array.from({ length: steps }, (_, step) => ({
        at: 1_700_000_000_001 + step,
        step,
        metrics: metrics(step),
      })),
      { at: 1_800_000_000_000, file: { path: 'output.log', stored: `files/${'a'.repeat(16)}`, size: 7 } },
      { at: 1_800_000_000_000, end: 'FINISHED' },
    ];
    await mkdir(join(own, 'files'), { recursive: true });
    await writeFile(join(own, 'files', 'a'.repeat(16)), 'a line\n');
    await writeFile(join(own, 'records.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}

/** Processor seconds of a process and all below it, and of their children that have ended. */
async function processorSeconds(root: number): Promise<number> {
  let ticks = 0;
  for (const pid of await descendants(root)) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const field of fields.slice(11, 15)) ticks += Number(field);
  }
  return ticks / 100;
}

if (process.argv.length > 2) {
  console.log('Usage: npm run proof -- imports');
  process.exit(process.argv[2] === '--help' ? 0 : 2);
}

const scratch = await mkdtemp(join(tmpdir(), 'imports-'));
const service = await startService(join(scratch, 'data'));
try {
  const { token } = await service.signIn();
  const env = { ...process.env, MPS_URL: service.url, MPS_TOKEN: token };
  const bring = async (project: string, runs: number, steps: number) => {
    const folder = join(scratch, project);
    await record(folder, project, runs, steps);
    const before = await processorSeconds(service.pid);
    const noteUsage = `data:text/javascript,process.on('exit',()=>{const u=process.resourceUsage();
process.stderr.write(JSON.stringify([u.userCPUTime+u.systemCPUTime,u.maxRSS]))})`.replaceAll('\n', '');
    const args = ['--import', noteUsage, mpsBundle, 'import', '--from', 'offline', folder, '--json'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [printed, usage] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [microseconds = 0, kilobytes = 0]: number[] = JSON.parse(usage.slice(usage.lastIndexOf('[')));
    const seconds = (await processorSeconds(service.pid)) - before + microseconds / 1e6;
    return {
      ...(JSON.parse(printed) as { runs: number; points: number }),
      seconds,
      megabytes: kilobytes / 1000,
    };
  };
  spawnSync(process.execPath, [join(projectRoot, 'cli/mps.mjs'), '--version']);
  await bring('warm', 30, 20);
  const small = await bring('small', 300, 20);
  const large = await bring('large', 3, 50_000);
  const figures: [string, number, number][] = [
    ['ms of processors for a run of 100 points with a file', (small.seconds / small.runs) * 1000, 40],
    ['µs of processors for a point', (large.seconds / large.points) * 1e6, 10],
    ['MB of the command at most', Math.max(small.megabytes, large.megabytes), 200],
  ];
  for (const [name, value, bound] of figures)
    console.log(
      `${value.toFixed(1).padStart(8)}  ${name} (at most ${bound})${value > bound ? ': missed' : ''}`,
    );
  if (figures.some(([, value, bound]) => value > bound)) process.exitCode = 1;
} finally {
  await service.stop();
  await rm(scratch, { recursive: true });
}
