import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZipFile } from 'yazl';
import type { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import type { endpoint as readLogs } from '../../../functions/experiments/records/read-logs.endpoint.ts';
import type { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import type { AnswerOf, RowOf } from '../../../shared/client/route.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { projectText } from './project-records.ts';
import { type SourceArchive, uploadSource } from './upload-source.ts';

const config_id = 'train.yaml';
const logRoute = 'GET /projects/{project_id}/experiments/{experiment_id}/logs';

export type Experiment = AnswerOf<typeof readExperiment>;
export type LogLine = RowOf<typeof readLogs>;

/** What names an experiment. */
type ExperimentPath = Pick<Experiment, 'project_id' | 'experiment_id'>;

const pathOf = ({ project_id, experiment_id }: ExperimentPath) => ({ path: { project_id, experiment_id } });

export interface TrainingOptions {
  command: string;
  /** Contents by path. */
  files: Readonly<Record<string, string | Buffer>>;
  env_type?: 'system' | 'python';
  dependencies?: string;
}

async function packFiles(files: TrainingOptions['files']): Promise<SourceArchive> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const bytes = new Uint8Array(await buffer(zip.outputStream));
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** A project that can be trained again and again. */
export class TrainingProject {
  readonly #client: Client;
  readonly project_id: string;

  /** `project_id` is of a project which is ready to be trained. */
  constructor(client: Client, project_id: string) {
    this.#client = client;
    this.project_id = project_id;
  }

  static async create(client: Client, options: TrainingOptions): Promise<TrainingProject> {
    const { command: entry_point_command, files, env_type = 'system', dependencies = 'none' } = options;
    const { project_id } = await client.call<typeof createProject>('POST /projects/', { query: projectText });
    const project = new TrainingProject(client, project_id);
    await project.configure('epochs: 3\n');
    await uploadSource(client, project_id, await packFiles(files));
    await client.call<typeof putEnvironment>('PUT /projects/{project_id}/environment', {
      path: { project_id },
      query: { entry_point_command, env_type, dependencies },
    });
    return project;
  }

  /** Replaces the configuration that the next trainings get. */
  async configure(yaml: string): Promise<void> {
    await this.#client.call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', {
      path: { project_id: this.project_id, config_id },
      file: yaml,
    });
  }

  async train(): Promise<Experiment> {
    return this.#client.call<typeof trainProject>('POST /projects/{project_id}/train', {
      path: { project_id: this.project_id },
      query: { config: config_id },
    });
  }

  /** The experiment as it is now. */
  async read(experiment: ExperimentPath): Promise<Experiment> {
    const route = 'GET /projects/{project_id}/experiments/{experiment_id}';
    return this.#client.call<typeof readExperiment>(route, pathOf(experiment));
  }

  /** Waits for the end, looking every so many milliseconds. @throws Error with the log's end when it is not a success */
  async succeeded(begun: ExperimentPath, pollMilliseconds = 20): Promise<Experiment> {
    for (;;) {
      const experiment = await this.read(begun);
      if (experiment.status === 'SUCCEEDED') return experiment;
      if (isFinal(experiment.status)) {
        const request = { ...pathOf(begun), query: { tail: 20 } };
        const log = await this.#client.text<typeof readLogs>(logRoute, 'text/plain', request);
        throw new Error(`${experiment.status}: ${experiment.status_reason ?? ''}\n${log}`);
      }
      await sleep(pollMilliseconds);
    }
  }

  /** The lines of the first page of the log as it is now. */
  async firstLines(experiment: ExperimentPath): Promise<LogLine[]> {
    return (await this.#client.page<typeof readLogs>(logRoute, pathOf(experiment))).rows;
  }

  /** All lines of an ended experiment's log, in their order. */
  async log(experiment: ExperimentPath): Promise<LogLine[]> {
    return Array.fromAsync(this.#client.rows<typeof readLogs>(logRoute, pathOf(experiment)));
  }
}
