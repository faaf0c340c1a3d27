import { notFound, ServiceError } from '../../shared/core/service-error.ts';
import {
  findServedVersion,
  findServing,
  resolveVersion,
  type ServedVersion,
  type Serving,
  servingKey,
} from '../../shared/data/models/serving.ts';
import { itemName } from '../../shared/data/table/item.ts';
import { RecentValues } from '../../shared/data/table/recent-values.ts';
import { requireAccess, throttleStranger } from './require-access.ts';
import type { ServingContext } from './serving-needs.ts';

/** The model and version that a path names. */
export interface Asked {
  model_name: string;
  /** Version or alias; undefined for the default. */
  version?: string | undefined;
}

/** A version that the caller may ask. */
export interface Served {
  serving: Serving;
  version: ServedVersion;
  /** Why it was taken out; null while it answers. */
  withdrawn: string | null;
}

/** Configurations, as this process has read them within a second. */
const configurations = new RecentValues<Serving | undefined>();

/** Versions never change, so a process reads each once. */
const known = new Map<string, ServedVersion>();

const maxKnown = 500;

/**
 * Find the version of a request. The configuration is at most a second old; where one process serves all requests, an alias
 * counts from the next one.
 * @throws ServiceError `unauthenticated`, `forbidden`, `too-many-requests`, `not-found`
 */
export async function findServed(
  { model_name, version: asked }: Asked,
  { records, caller }: Pick<ServingContext, 'records' | 'caller'>,
): Promise<Served> {
  const sources = [itemName(servingKey(model_name))];
  const read = () => findServing(records, model_name);
  const serving = await configurations.get(records, model_name, sources, read);
  await requireAccess(serving, { caller, records });
  if (serving === undefined) throw notFound('served model', model_name);
  if (caller === undefined) throttleStranger(serving);
  const name = resolveVersion(serving, asked);
  const state = name === undefined ? undefined : serving.versions[name];
  if (name === undefined || state === undefined) {
    const there = [...Object.keys(serving.aliases), ...Object.keys(serving.versions)].join(', ');
    throw new ServiceError('not-found', `${model_name} has no version ${asked ?? ''}. It has: ${there}.`);
  }
  const key = `${serving.model_id}/${name}/${state.digest}`;
  const version = known.get(key) ?? (await findServedVersion(records, serving.model_id, name));
  if (version === undefined) throw notFound(`version of ${model_name}`, name);
  if (known.size >= maxKnown) known.clear();
  known.set(key, version);
  return { serving, version, withdrawn: state.withdrawn };
}

/** @throws ServiceError `conflict` if the version was taken out */
export function requireInService({ serving: { model_name }, version: { name }, withdrawn }: Served): void {
  if (withdrawn === null) return;
  const detail = `The version ${name} of ${model_name} was taken out: ${withdrawn} Its owner can put it in again with PUT /optimization/models/${model_name}/serving/versions/${name}.`;
  throw new ServiceError('conflict', detail);
}
