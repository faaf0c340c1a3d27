import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import type { endpoint as logMetrics } from '../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { startMps } from '../support/mps.ts';
import { admin } from './console-service.ts';

/** Markup, right-to-left text, emoji, and a word of 100 characters without a place to break. */
export const hostile = `<img src=x onerror="window.hacked=1">🦜 שלום ${'w'.repeat(60)}`.slice(0, 128);

/** The same as a name of as many characters as a metric, a param or a tag may have. */
const hostileName = `${hostile}${'n'.repeat(250)}`.slice(0, 250);

const example = join(import.meta.dirname, '../examples/hello');

/** A program that leaves what a browser must not run, and a log of nearly the 100 MB that are kept, which is hard to show. */
const program = `
import json, os, sys
out = os.environ["OUTPUT_DIR"]
def leave(name, text):
    with open(os.path.join(out, name), "w") as file: file.write(text)
leave("scripted.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><script>window.top.hacked=1</script><rect width="60" height="60" fill="teal" onload="window.top.hacked=1"/></svg>')
leave("page.html", "<script>window.top.hacked=1</script><h1>page</h1>")
leave("table.csv", "name,value\\n<b>x</b>,1\\n\\"two, lines\\",2\\n")
leave("data.json", json.dumps({"a": [1, 2, {"b": "<script>"}]}))
leave("notes.md", "# Title\\n[bad](javascript:window.hacked=1) <img src=x onerror=window.hacked=1> **bold**")
for index in range(870): print(index, "y" * 100_000)
print("<script>window.hacked=1</script>")
print("WARNING: the disk is slow")
print("\\x1b[31mValueError: red\\x1b[0m", file=sys.stderr)
for index in range(30000): print("line", index)
print("x" * 10_000_000)
print("the last line")
`;

export interface Seeded {
  hello: { project_id: string; experiment_id: string };
  hard: { project_id: string; experiment_id: string };
  hostile: { project_id: string; experiment_id: string };
}

/** Train a folder by \`mps run\`, and return what came of it. */
export async function trainFolder(
  url: string,
  client: Client,
  files: Readonly<Record<string, string | Uint8Array>> | undefined,
  name: string,
) {
  const home = await mkdtemp(join(tmpdir(), 'console-home-'));
  const folder = join(home, name);
  try {
    await cp(example, folder, { recursive: true });
    for (const [file, content] of Object.entries(files ?? {})) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), content);
    }
    const { access_token } = await new Client({ url }).call<typeof createToken>('POST /auth/token', {
      body: { grant_type: 'password', ...admin },
    });
    const { code, stderr } = await startMps(['run'], {
      folder,
      home,
      environment: { MPS_URL: url, MPS_TOKEN: access_token },
    }).ended;
    if (code !== 0) throw new Error(`mps run: ${stderr}`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  const projects = await client.call<typeof listProjects>('GET /projects/');
  const project_id =
    (projects as { project_name: string; project_id: string }[]).find((one) => one.project_name === name)
      ?.project_id ?? '';
  const [latest] = await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 1 },
  });
  return { project_id, experiment_id: latest?.experiment_id ?? '' };
}

/** A logged experiment all of whose names and texts are hostile. */
async function recordHostile(client: Client) {
  const { project_id } = await client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': hostile,
      'project-description': hostile,
      'project-type': hostile.slice(0, 60),
      'project-task': hostile.slice(0, 60),
    },
  });
  let experiment_id = '';
  for (const index of [0, 1, 2]) {
    const created = await client.call<typeof createExperiment>('POST /projects/{project_id}/experiments', {
      path: { project_id },
      body: {
        name: hostile,
        note: '# Note\n<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\n[link](javascript:window.hacked=1) **bold**',
        tags: { [hostileName]: hostile },
        params: { [hostileName]: `${hostile}${index}` },
      },
    });
    experiment_id = created.experiment_id;
    const path = { project_id, experiment_id };
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path,
      body: {
        metrics: [
          ...[0, 1, 2].map((step) => ({
            name: hostileName,
            value: step === 1 ? ('NaN' as const) : step * index,
            step,
          })),
          { name: 'single', value: index, step: 7 },
          { name: 'endless', value: 'Infinity' as const, step: 0 },
          { name: 'endless', value: '-Infinity' as const, step: 1 },
        ],
      },
    });
    if (index < 2)
      await client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
        path,
        body: { status: 'FAILED' },
      });
  }
  return { project_id, experiment_id };
}

/** The one high value of a long run. */
export const peak = 50;

/** A logged experiment with one metric of so many points. */
export async function recordLong(client: Client, count: number) {
  const { project_id } = await client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': 'long',
      'project-description': 'One long run.',
      'project-type': 'supervised',
      'project-task': 'classification',
    },
  });
  const { experiment_id } = await client.call<typeof createExperiment>(
    'POST /projects/{project_id}/experiments',
    { path: { project_id }, body: { name: 'long' } },
  );
  const path = { project_id, experiment_id };
  for (let start = 0; start < count; start += 1_000)
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path,
      body: {
        metrics: Array.from({ length: 1_000 }, (_, index) => ({
          name: 'accuracy',
          value: start + index === 6_001 ? peak : Math.sin((start + index) / 100),
          step: start + index,
        })),
      },
    });
  await client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
    path,
    body: { status: 'SUCCEEDED' },
  });
  return path;
}

/** Real trainings and recorded experiments, as good and as bad as they come. */
export async function seed(url: string, client: Client): Promise<Seeded> {
  const hello = await trainFolder(url, client, undefined, 'hello');
  const hard = await trainFolder(url, client, { 'train.py': program }, 'hard');
  return { hello, hard, hostile: await recordHostile(client) };
}
