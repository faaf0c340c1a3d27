import { ServiceError } from '../../../shared/core/service-error.ts';
import { findModel, type Model } from '../../../shared/data/models/model.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';

/** Refuse callers who may not change a model. */
export function requireOwn({ owner_id }: Pick<Model, 'owner_id'>, caller: Caller): void {
  if (caller.account_type === 'admin' || owner_id === caller.user_id) return;
  throw new ServiceError(
    'forbidden',
    'This model belongs to another user. Only its owner and admins may change it.',
  );
}

/**
 * Change the model of this name; `attempt` gets undefined if it does not exist. If another change came between,
 * read the model again and retry.
 * @throws ServiceError `forbidden` for a model of another user
 * @throws ServiceError `conflict` when other changes keep coming between
 */
export function changeModel<T>(
  records: TableReader<'records'>,
  model_name: string,
  caller: Caller,
  attempt: (model: Model | undefined) => Promise<T>,
  find: (records: TableReader<'records'>, model_name: string) => Promise<Model | undefined> = findModel,
): Promise<T> {
  return retryOnConflict(async () => {
    const model = await find(records, model_name);
    if (model !== undefined) requireOwn(model, caller);
    return attempt(model);
  });
}
