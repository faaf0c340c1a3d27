import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { compressionExists } from '../../../shared/data/models/compression.ts';
import { modelExists, type ReadyModel, requireReadyModel } from '../../../shared/data/models/model.ts';
import {
  findServing,
  keepWarm,
  maxVersions,
  originalVersion,
  putServedVersion,
  putServing,
  resolveVersion,
  type ServedVersion,
  type Serving,
} from '../../../shared/data/models/serving.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { requireOwn } from '../models/change-model.ts';

interface Changing {
  records: TableWriter<'records'>;
  caller: Caller;
  now(): Date;
}

/** The next configuration, and what else its transaction writes. */
interface Change {
  next: Omit<Serving, 'version' | 'updated_at'>;
  also?: readonly Write[];
}

/**
 * Change the serving of a model; `attempt` gets undefined while it is not served. If another change came between, read
 * again and retry.
 * @throws ServiceError `not-found`, `forbidden` for a model of another user, `conflict`
 */
export function changeServing(
  model_name: string,
  { records, caller, now }: Changing,
  attempt: (model: ReadyModel, present: Serving | undefined) => Promise<Change>,
): Promise<Serving> {
  return retryOnConflict(async () => {
    const model = await requireReadyModel(records, model_name);
    requireOwn(model, caller);
    const serving = await findServing(records, model_name);
    // A configuration of an earlier model of this name serves nothing of this one.
    const present = serving?.model_id === model.model_id ? serving : undefined;
    const { next, also = [] } = await attempt(model, present);
    const stored: Serving = {
      ...next,
      updated_at: now().toISOString(),
      version: (serving?.version ?? 0) + 1,
    };
    await records.write(
      putServing(stored, serving),
      ...keepWarm(stored, serving),
      modelExists(model),
      ...also,
    );
    return stored;
  });
}

/**
 * Add a version, in service again if it was taken out.
 * @throws ServiceError `conflict` for too many versions
 */
export function withVersion(
  versions: Serving['versions'],
  { name, digest, bytes }: Pick<ServedVersion, 'name' | 'digest' | 'bytes'>,
): Serving['versions'] {
  const next = {
    ...versions,
    [name]: { digest, bytes, crashes: 0, crashed_at: null, withdrawn: null },
  };
  if (Object.keys(next).length <= maxVersions) return next;
  const detail = `A model has at most ${maxVersions} versions in service. Remove one with DELETE …/serving/versions/{version}.`;
  throw new ServiceError('conflict', detail);
}

/** Build the writes that store a new version, if its strategy is not deleted at the same moment. */
export const addedVersion = (version: ServedVersion): Write[] => [
  putServedVersion(version),
  ...(version.strategy_id === null || version.source === 'model'
    ? []
    : [compressionExists(version.source, version.strategy_id)]),
];

/** @throws ServiceError `conflict` that names what there is */
export function requireKnown(serving: Pick<Serving, 'versions' | 'aliases'>, name: string): string {
  const found = resolveVersion({ ...serving, default_version: originalVersion }, name);
  if (found !== undefined) return found;
  const there = [...Object.keys(serving.versions), ...Object.keys(serving.aliases)].join(', ');
  throw new ServiceError('conflict', `There is no version or alias ${name} in service. There are: ${there}.`);
}

/** @throws ServiceError `not-found` if the model is not served */
export function requirePresent(model_name: string, present: Serving | undefined): Serving {
  if (present === undefined) throw notFound('served model', model_name);
  return present;
}
