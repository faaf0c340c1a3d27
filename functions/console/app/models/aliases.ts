import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { endpoint as deleteServingVersion } from '../../../optimization/serving/delete-serving-version.endpoint.ts';
import type { endpoint as putServing } from '../../../optimization/serving/put-serving.endpoint.ts';
import type { endpoint as putServingVersion } from '../../../optimization/serving/put-serving-version.endpoint.ts';
import { call } from '../api/calls.ts';
import { loadServing, type Serving, turnOff } from '../api/serving.ts';

const route = '/optimization/models/{model_name}/serving' as const;

/** Load how a model is served. Undefined if it is not. */
export async function findServing(model_name: string): Promise<Serving | undefined> {
  try {
    return await loadServing(model_name);
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  }
}

/** Return the aliases that name a version, in order. */
export const aliasesOf = (serving: Pick<Serving, 'aliases'> | undefined, version: string): string[] =>
  Object.entries(serving?.aliases ?? {})
    .flatMap(([alias, named]) => (named === version ? [alias] : []))
    .sort();

const point = (model_name: string, alias: string, target: string) =>
  call<typeof putServingVersion>(`PUT ${route}/versions/{version}`, {
    path: { model_name, version: alias },
    query: { target },
  });

const takeOut = (model_name: string, name: string) =>
  call<typeof deleteServingVersion>(`DELETE ${route}/versions/{version}`, {
    path: { model_name, version: name },
  });

/** Undo a change. */
export type Undo = () => Promise<unknown>;

/**
 * Point an alias at a version, which is put in service if it is not. A model that is not served is served from then on.
 * @returns how to restore the state before
 */
export async function promote(model_name: string, alias: string, version: string): Promise<Undo> {
  const before = await findServing(model_name);
  if (before === undefined) {
    await call<typeof putServing>(`PUT ${route}`, { path: { model_name }, query: { version } });
    try {
      await point(model_name, alias, version);
    } catch (error) {
      // A refused alias must not leave the model in service.
      await turnOff(model_name);
      throw error;
    }
    return () => turnOff(model_name);
  }
  await point(model_name, alias, version);
  const previous = before.aliases[alias];
  const isNew = before.versions.every((one) => one.version !== version);
  return async () => {
    await (previous === undefined ? takeOut(model_name, alias) : point(model_name, alias, previous));
    if (isNew) await takeOut(model_name, version);
  };
}

/** Remove an alias. Its version stays in service. @returns how to restore it */
export async function removeAlias(model_name: string, alias: string, version: string): Promise<Undo> {
  await takeOut(model_name, alias);
  return () => point(model_name, alias, version);
}
