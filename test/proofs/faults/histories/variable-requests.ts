import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteVariable } from '../../../../functions/projects/variables/delete-variable.endpoint.ts';
import { endpoint as deleteVariables } from '../../../../functions/projects/variables/delete-variables.endpoint.ts';
import { endpoint as listVariables } from '../../../../functions/projects/variables/list-variables.endpoint.ts';
import { endpoint as putVariable } from '../../../../functions/projects/variables/put-variable.endpoint.ts';
import { endpoint as readVariable } from '../../../../functions/projects/variables/read-variable.endpoint.ts';
import { pick } from '../../../support/random-choice.ts';
import { type Answer, must } from '../world/ask.ts';
import type { Service } from '../world/service.ts';
import type { Ask, Request } from './client.ts';
import type { Apply } from './linearize.ts';
import * as model from './variables-world.ts';
import { World } from './world.ts';

/** A project whose variables its owner changes from several places. */
export interface KnownVariables {
  world: World<model.VariablesState>;
  project_id: string;
}

const names = ['ALPHA', 'BETA', 'GAMMA'] as const;
const values = ['the first value', 'the second value'] as const;

export async function newVariables({ environment }: Service, token: string): Promise<KnownVariables> {
  const query = {
    'project-name': 'variables',
    'project-description': 'Has variables',
    'project-type': 'tabular',
    'project-task': 'classification',
  };
  const { project_id } = await must(createProject, environment, { query, token });
  return { world: new World('variables', {}), project_id };
}

type Meanings = Readonly<Record<number, (json: Answer['json']) => readonly Apply<model.VariablesState>[]>>;

/** Others kept coming between, and nothing was changed. */
const undone = () => [];

/** Requests about the variables of the project, each drawn when it is sent. */
export function variableRequests(
  ask: Ask,
  token: string,
  { world, project_id }: KnownVariables,
  random: () => number,
): (() => Request)[] {
  const path = { project_id };
  const request = (what: string, meanings: Meanings, send: () => Promise<Answer>): Request => ({
    what,
    send,
    note({ status, json }, span) {
      const meaning = meanings[status];
      if (meaning === undefined) return false;
      world.note(span, `${what} → ${status} ${json?.detail ?? ''}`, meaning(json));
      return true;
    },
  });
  return [
    () => {
      const [name, value, secret] = [pick(random, names), pick(random, values), random() < 0.5];
      const shown = secret ? null : value;
      const meanings: Meanings = { 200: () => [model.variableSet(name, shown, secret)], 409: undone };
      const headers = { 'Content-Type': 'application/json' };
      const body = JSON.stringify({ value, secret });
      return request(`set ${name} to ${shown}`, meanings, () =>
        ask(putVariable, { path: { ...path, name }, headers, body, token }),
      );
    },
    () => {
      const name = pick(random, names);
      const meanings: Meanings = {
        200: () => [model.variableDeleted(name)],
        404: () => [model.isAbsent(name)],
        409: undone,
      };
      return request(`delete ${name}`, meanings, () =>
        ask(deleteVariable, { path: { ...path, name }, token }),
      );
    },
    () => {
      const name = pick(random, names);
      const meanings: Meanings = {
        200: ({ value, secret }) => [model.isVariable(name, value, secret)],
        404: () => [model.isAbsent(name)],
      };
      return request(`read ${name}`, meanings, () => ask(readVariable, { path: { ...path, name }, token }));
    },
    () =>
      request('list the variables', { 200: (listed) => [model.areVariables(listed)] }, () =>
        ask(listVariables, { path, token }),
      ),
    () =>
      request(
        'delete all variables',
        { 200: ({ deleted }) => [model.allDeleted(deleted.variables)], 409: undone },
        () => ask(deleteVariables, { path, token }),
      ),
  ];
}
