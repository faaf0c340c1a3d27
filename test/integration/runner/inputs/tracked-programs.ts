import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TrainingRun } from '../../../../shared/runner/job/training-job.ts';
import { provideTrackers } from '../../../../shared/runner/trackers/provide-trackers.ts';

interface Row {
  key: string;
  value: unknown;
  step?: number;
}

/** What a run of a program recorded. */
interface Recorded {
  name?: string;
  parent?: string;
  status?: string;
  metrics: string[];
  params: Record<string, unknown>;
  tags: Record<string, unknown>;
}

/** Runs programs of trackers within an experiment. `runs` is what they recorded, `faults` the statuses that batches get first. */
export async function trackedPrograms() {
  const root = await mkdtemp(join(tmpdir(), 'trackers-'));
  const source = join(root, 'source');
  const output = join(root, 'output');
  await mkdir(source);
  const runs: Recorded[] = [];
  const faults: number[] = [];
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const path = request.url?.replace(/.*mlflow\//, '') ?? '';
    if (path === 'runs/log-batch') response.statusCode = faults.shift() ?? 200;
    if (response.statusCode !== 200) return void response.end('{"message":"a fault"}');
    response.end(JSON.stringify(answered(runs, path, sent === '' ? {} : JSON.parse(sent))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  /** Provide the modules to the program. Return their folder. */
  async function provided(program: string): Promise<string> {
    await writeFile(join(source, 'train.py'), program);
    const run = {
      job: { record: { environment: { entry_point_command: 'python3 train.py' } } },
      workspace: { root, source },
      variables: { values: {} },
    };
    return (await provideTrackers(run as unknown as TrainingRun)) ?? '';
  }

  /**
   * Run a program, or a command that runs it. Return what it printed and said, and the files that were kept.
   *
   * @param modules further modules that it can import
   */
  async function ran(
    lines: readonly string[],
    modules: Readonly<Record<string, string>> = {},
    command?: (folder: string) => Promise<readonly string[]>,
  ) {
    const folder = await provided(lines.join('\n'));
    for (const [name, content] of Object.entries(modules)) await writeFile(join(source, name), content);
    const [program = '', ...args] = (await command?.(folder)) ?? ['python3', 'train.py'];
    const env = {
      PATH: '/usr/bin:/bin',
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      TMPDIR: root,
      OUTPUT_DIR: output,
      MLFLOW_TRACKING_URI: `http://127.0.0.1:${port}/mlflow`,
      MLFLOW_RUN_ID: 'r0',
    };
    const { printed, said } = await new Promise<{ printed: string; said: string }>((resolve) =>
      execFile(program, args, { env, cwd: source }, (_, stdout, stderr) =>
        resolve({ printed: stdout, said: stderr }),
      ),
    );
    const kept = await readdir(output, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = kept
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(output.length + 1));
    return { printed, said, files: files.toSorted() };
  }

  async function close(): Promise<void> {
    server.close();
    server.closeAllConnections();
    await rm(root, { recursive: true, force: true });
  }
  return { root, source, output, runs, faults, ran, close };
}

/** Answer a request of MLflow's API as the supervisor of a job does. */
function answered(runs: Recorded[], path: string, body: Record<string, unknown>): unknown {
  const run = runs[Number(String(body['run_id'] ?? '').slice(1))];
  if (path === 'runs/create') {
    const tags = body['tags'] as Row[];
    const parent = tags.find(({ key }) => key === 'mlflow.parentRunId');
    const made: Recorded = { metrics: [], params: {}, tags: {} };
    if (body['run_name'] !== undefined) made.name = String(body['run_name']);
    if (parent !== undefined) made.parent = String(parent.value);
    runs.push(made);
    return { run: { info: { run_id: `r${runs.length - 1}` } } };
  }
  if (run === undefined) return {};
  if (path === 'runs/update') run.status = String(body['status']);
  if (path === 'runs/delete-tag') delete run.tags[String(body['key'])];
  const rows = (name: string) => (body[name] ?? []) as Row[];
  run.metrics.push(...rows('metrics').map(({ key, value, step }) => `${key}@${step}=${value}`));
  for (const { key, value } of rows('params')) run.params[key] = value;
  for (const { key, value } of rows('tags')) run.tags[key] = value;
  return {};
}
