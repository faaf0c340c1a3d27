import { ServiceError } from '../../../shared/core/service-error.ts';
import { findModel, type Model } from '../../../shared/data/model.ts';
import type { TableReader } from '../../../shared/data/table.ts';
import { ConditionFailedError } from '../../../shared/data/write-label.ts';
import type { Caller } from '../../../shared/http/definition.ts';

/** Refuses callers who may not change a model. */
export function requireOwn({ owner_id }: Pick<Model, 'owner_id'>, caller: Caller): void {
  if (caller.account_type === 'admin' || owner_id === caller.user_id) return;
  throw new ServiceError(
    'forbidden',
    'This model belongs to somebody else; only its owner and admins may change it.',
  );
}

/** Somebody always wins a round, so this many contenders for one record all come through. */
const rounds = 8;

/**
 * Does a change of the model of this name, again whenever another one came between, each time with the model as it is
 * then: undefined where there is none. Throws a 403 problem for what is somebody else's, and a 409 problem when others
 * keep coming between.
 */
export async function changeModel<T>(
  records: TableReader<'records'>,
  model_name: string,
  caller: Caller,
  attempt: (model: Model | undefined) => Promise<T>,
  find: (records: TableReader<'records'>, model_name: string) => Promise<Model | undefined> = findModel,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    const model = await find(records, model_name);
    if (model !== undefined) requireOwn(model, caller);
    try {
      return await attempt(model);
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      if (round < rounds) continue;
      throw new ServiceError('conflict', 'Others are changing this at the same moment. Try again.', {
        cause: error,
      });
    }
  }
}
