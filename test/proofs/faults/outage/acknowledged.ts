import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { endpoint as putConfig } from '../../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as train } from '../../../../functions/projects/training/train-project.endpoint.ts';
import type { Inventory } from '../../../support/inventory.ts';
import { ask } from '../world/ask.ts';
import type { Service } from '../world/service.ts';

/** What the service has accepted, and by which statuses it has refused. */
export interface Acknowledged {
  projects: string[];
  /** SHA-256 of each content, by configuration. */
  configs: Map<string, string>;
  experiments: string[];
  statuses: Map<number, number>;
}

export const nothingAcknowledged = (): Acknowledged => ({
  projects: [],
  configs: new Map(),
  experiments: [],
  statuses: new Map(),
});

interface Client {
  service: Service;
  token: string;
  project_id: string;
  acknowledged: Acknowledged;
}

/** Asks for something, and keeps what was acknowledged. */
async function askFor(
  { service, token, project_id, acknowledged }: Client,
  what: number,
  name: string,
): Promise<void> {
  const { environment } = service;
  const path = { project_id };
  const body = `name: ${name}\n`;
  const query = {
    'project-name': name,
    'project-description': 'd',
    'project-type': 't',
    'project-task': 'x',
  };
  const yaml = { 'Content-Type': 'application/yaml' };
  const { status, json } =
    what === 0
      ? await ask(train, environment, { path, query: { config: 'train.yaml' }, token })
      : what === 1
        ? await ask(createProject, environment, { query, token })
        : await ask(putConfig, environment, {
            path: { project_id, config_id: name },
            headers: yaml,
            body,
            token,
          });
  acknowledged.statuses.set(status, (acknowledged.statuses.get(status) ?? 0) + 1);
  if (status >= 300) return;
  if (what === 0) acknowledged.experiments.push(json.experiment_id);
  else if (what === 1) acknowledged.projects.push(json.project_id);
  else acknowledged.configs.set(name, createHash('sha256').update(body).digest('hex'));
}

/** So many clients who ask one thing after the other, until it was so often and the time has come; every `trainings`-th is a training. */
export async function askAround(
  client: Client,
  { clients, times, trainings, until }: { clients: number; times: number; trainings: number; until: number },
): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async (_, number) => {
      for (let index = 0; index < times || Date.now() < until; index += 1) {
        const what = index < times && index % trainings === 0 ? 0 : 1 + (index % 2);
        await askFor(client, what, `c${number}-${index}.yaml`);
        await sleep(20);
      }
    }),
  );
}

/** What was acknowledged and is not there. */
export function lostOf(acknowledged: Acknowledged, { records }: Inventory): string[] {
  const found = new Map(records.map(({ pk, sk, sha256 }) => [`${pk.split('#')[0]}/${sk}`, sha256]));
  return [
    ...acknowledged.projects.filter((id) => !found.has(`PROJECTS/${id}`)).map((id) => `lost: project ${id}`),
    ...[...acknowledged.configs]
      .filter(([name, sha256]) => found.get(`CONFIGS/${name}`) !== sha256)
      .map(([name]) => `lost: configuration ${name}`),
    ...acknowledged.experiments
      .filter((id) => !found.has(`EXPERIMENTS/${id}`))
      .map((id) => `lost: experiment ${id}`),
  ];
}
