import { endpoint as deleteConfig } from '../../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as listConfigs } from '../../../../functions/projects/configs/list-configs.endpoint.ts';
import { endpoint as putConfig } from '../../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as readProject } from '../../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../../functions/projects/projects/update-project.endpoint.ts';
import { pick } from '../../../support/random-choice.ts';
import type { Answer } from '../world/ask.ts';
import type { Ask, Request } from './client.ts';
import type { Apply } from './linearize.ts';
import * as model from './project-world.ts';
import type { Span, World } from './world.ts';

/** What the clients of a history know of a project. */
export interface KnownProject {
  world: World<model.ProjectState>;
  /** Undefined until it was made. */
  id: string | undefined;
  /** With which every client makes it, where it was not there from the start. */
  key: string | undefined;
  /** Ids of its experiments. */
  experiments: Set<string>;
}

export const configNames = ['a.yaml', 'b.json'] as const;

type Stages = readonly (readonly Apply<model.ProjectState>[])[];
/** What each status says; one that is missing cannot be. */
export type Meanings = Readonly<Record<number, (json: Answer['json']) => Stages>>;

export function requestOf(
  { world }: KnownProject,
  what: string,
  meanings: Meanings,
  send: () => Promise<Answer>,
): Request {
  return {
    what,
    send,
    note({ status, json }: Answer, span: Span) {
      const meaning = meanings[status];
      if (meaning === undefined) return false;
      world.note(span, `${what} → ${status} ${json?.detail ?? ''}`, ...meaning(json));
      return true;
    },
  };
}

const gone = () => [[model.isNoProject]];
const ifMatch = (version: number | undefined): Record<string, string> =>
  version === undefined ? {} : { 'If-Match': `"${version}-x"` };

/** Requests about a project and its configurations, each drawn when it is sent. */
export function projectRequests(
  ask: Ask,
  token: string,
  project: KnownProject,
  random: () => number,
): (() => Request | undefined)[] {
  const { world, key } = project;
  const request = (what: string, meanings: Meanings, send: () => Promise<Answer>) =>
    requestOf(project, `${what} of ${world.name}`, meanings, send);
  const version = () => pick(random, [0, 0, 1, 2, 3]) || undefined;
  const drawn = () => ({ path: { project_id: project.id ?? '' }, name: pick(random, configNames) });
  /** Undefined while there is no project to ask for. */
  const once = (draw: () => Request) => () => (project.id === undefined ? undefined : draw());

  const create = () => {
    if (key === undefined) return undefined;
    const query = {
      'project-name': 'keyed',
      'project-description': 'Made once',
      'project-type': 'tabular',
      'project-task': 'classification',
    };
    const meanings: Meanings = {
      200: ({ project_id }) => {
        project.id ??= project_id;
        return [[project.id === project_id ? model.madeOnce('keyed') : () => undefined]];
      },
      // Still in progress.
      409: () => [],
    };
    return request('create', meanings, () =>
      ask(createProject, { query, headers: { 'Idempotency-Key': key }, token }),
    );
  };

  return [
    create,
    once(() => {
      const { path } = drawn();
      const meanings: Meanings = {
        200: ({ project_name, configs, experiments }) => [
          [model.isNamed(project_name), model.counts(configs, experiments)],
        ],
        404: gone,
      };
      return request('read', meanings, () => ask(readProject, { path, token }));
    }),
    once(() => {
      const [{ path }, expected, project_name] = [drawn(), version(), `name ${random()}`];
      const meanings: Meanings = {
        200: () => [[model.renamed(project_name, expected)]],
        404: gone,
        412: () => [[model.hasOtherVersion(expected ?? 0)]],
      };
      const headers = { 'Content-Type': 'application/json', ...ifMatch(expected) };
      return request(`rename (${expected})`, meanings, () =>
        ask(updateProject, { path, headers, body: JSON.stringify({ project_name }), token }),
      );
    }),
    once(() => {
      const { path } = drawn();
      // Seldom, since nothing comes after it.
      const expected = random() < 0.2 ? undefined : 99;
      const meanings: Meanings = {
        200: ({ deleted: { configs, experiments } }) => [
          [model.counts(configs, experiments)],
          [model.removed(expected)],
        ],
        404: gone,
        412: () => [[model.hasOtherVersion(expected ?? 0)]],
      };
      return request(`delete (${expected})`, meanings, () =>
        ask(deleteProject, { path, headers: ifMatch(expected), token }),
      );
    }),
    once(() => {
      const [{ path, name }, expected] = [drawn(), version()];
      // The same text comes again now and then.
      const text = `{"epochs": ${Math.floor(random() * 4)}}`;
      const meanings: Meanings = {
        200: ({ version: made }) => [[model.configPut(name, text, made, expected)]],
        404: gone,
        412: () => [[model.hasOtherConfig(name, expected ?? 0)]],
      };
      const send = () =>
        ask(putConfig, { path: { ...path, config_id: name }, headers: ifMatch(expected), body: text, token });
      return request(`put ${name} ${text} (${expected})`, meanings, send);
    }),
    once(() => {
      const { path, name } = drawn();
      const meanings: Meanings = {
        200: ({ version: present, content }) => [[model.isConfig(name, present, content)]],
        404: () => [[model.isNoConfig(name)]],
      };
      const given = { path: { ...path, config_id: name }, token };
      return request(`read ${name}`, meanings, () => ask(readConfig, given));
    }),
    once(() => {
      const [{ path, name }, expected] = [drawn(), version()];
      const meanings: Meanings = {
        200: ({ deleted: { versions } }) => [[model.configDeleted(name, versions, expected)]],
        404: () => [[model.isNoConfig(name)]],
        412: () => [[model.hasOtherConfig(name, expected ?? 0)]],
      };
      const given = { path: { ...path, config_id: name }, headers: ifMatch(expected), token };
      return request(`delete ${name} (${expected})`, meanings, () => ask(deleteConfig, given));
    }),
    once(() => {
      const { path } = drawn();
      const meanings: Meanings = {
        200: (listed: { config_id: string; version: number }[]) => [
          configNames.map((name) => {
            const found = listed.find(({ config_id }) => config_id === name);
            return found === undefined ? model.isNoConfig(name) : model.isConfig(name, found.version);
          }),
        ],
        404: gone,
      };
      return request('configs', meanings, () => ask(listConfigs, { path, token }));
    }),
  ];
}
