import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { DemoExperiment, hasEnded } from '../demo/demo-experiment.ts';
import { pathOf, type ServiceClient } from '../demo/service-client.ts';
import { projectText } from './project-records.ts';

const configId = 'train.yaml';

const Created = z.object({ project_id: z.string() });
const Ticket = z.object({
  upload: z.object({ url: z.string(), method: z.string(), headers: z.record(z.string(), z.string()) }),
});
const LogLine = z.object({ time: z.string(), stream: z.string(), message: z.string() });
export type LogLine = z.infer<typeof LogLine>;

export interface TrainingOptions {
  command: string;
  /** Contents by path. */
  files: Readonly<Record<string, string | Buffer>>;
  env_type?: 'system' | 'python';
  dependencies?: string;
}

async function uploadSource(
  client: ServiceClient,
  project: string,
  files: TrainingOptions['files'],
): Promise<void> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const bytes = new Uint8Array(await buffer(zip.outputStream));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = `${project}/source`;
  const query = { sha256, size: String(bytes.length) };
  const { upload } = await client.json(Ticket, 'POST', path, { query });
  const stored = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: bytes });
  if (!stored.ok) throw new Error(`the source was refused: ${await stored.text()}`);
  await client.send('PUT', path, { query: { sha256 } });
}

/** A project that can be trained again and again. */
export class TrainingProject {
  readonly #client: ServiceClient;
  readonly path: string;

  /** `path` is that of a project which is ready to be trained. */
  constructor(client: ServiceClient, path: string) {
    this.#client = client;
    this.path = path;
  }

  static async create(client: ServiceClient, options: TrainingOptions): Promise<TrainingProject> {
    const { command: entry_point_command, files, env_type = 'system', dependencies = 'none' } = options;
    const { project_id } = await client.json(Created, 'POST', '/projects/', { query: projectText });
    const path = pathOf('projects', project_id);
    await client.send('PUT', `${path}${pathOf('configs', configId)}`, { body: 'epochs: 3\n' });
    await uploadSource(client, path, files);
    const query = { entry_point_command, env_type, dependencies };
    await client.send('PUT', `${path}/environment`, { query });
    return new TrainingProject(client, path);
  }

  async train(): Promise<DemoExperiment> {
    return this.#client.json(DemoExperiment, 'POST', `${this.path}/train`, { query: { config: configId } });
  }

  #experimentPath({ experiment_id }: DemoExperiment): string {
    return `${this.path}${pathOf('experiments', experiment_id)}`;
  }

  /** Waits for the end, looking every so many milliseconds. @throws Error with the log's end when it is not a success */
  async succeeded(begun: DemoExperiment, pollMilliseconds = 20): Promise<DemoExperiment> {
    const path = this.#experimentPath(begun);
    for (;;) {
      const experiment = await this.#client.json(DemoExperiment, 'GET', path);
      if (experiment.status === 'SUCCEEDED') return experiment;
      if (hasEnded(experiment)) {
        const log = await this.#client.text('text/plain', `${path}/logs?tail=20`);
        throw new Error(`${experiment.status}: ${experiment.status_reason ?? ''}\n${log}`);
      }
      await sleep(pollMilliseconds);
    }
  }

  /** The lines of a page of the log, and the query of the next page; undefined when the log is complete. */
  async logPage(
    experiment: DemoExperiment,
    query = '',
  ): Promise<{ lines: LogLine[]; next: string | undefined }> {
    const response = await this.#client.send('GET', `${this.#experimentPath(experiment)}/logs`, { query });
    const [, next] = /<\?(.*)>/.exec(response.headers.get('link') ?? '') ?? [];
    return { lines: z.array(LogLine).parse(await response.json()), next };
  }

  /** All lines of an ended experiment's log, in their order. */
  async log(experiment: DemoExperiment): Promise<LogLine[]> {
    const all: LogLine[] = [];
    let query: string | undefined = '';
    while (query !== undefined) {
      const page = await this.logPage(experiment, query);
      for (const line of page.lines) all.push(line);
      query = page.next;
    }
    return all;
  }
}
