import { TokenBucket } from '../../shared/core/rate-limit.ts';
import { ServiceError } from '../../shared/core/service-error.ts';
import { reachesProject } from '../../shared/data/accounts/token-scope.ts';
import type { Serving } from '../../shared/data/models/serving.ts';
import { findMember } from '../../shared/data/projects/member.ts';
import { findProjects } from '../../shared/data/projects/project.ts';
import type { ServingContext } from './serving-needs.ts';

type Asker = Pick<ServingContext, 'caller' | 'records'>;

/**
 * Refuse callers who may not ask a served model. Strangers get no answer about models that are not open to anyone.
 * @throws ServiceError `unauthenticated`, `forbidden`
 */
export async function requireAccess(serving: Serving | undefined, asker: Asker): Promise<void> {
  const refusal = await refuse(serving, asker);
  if (refusal !== undefined) throw refusal;
}

/** Whether a caller may ask a served model. */
export const mayAsk = async (serving: Serving, asker: Asker): Promise<boolean> =>
  (await refuse(serving, asker)) === undefined;

async function refuse(
  serving: Serving | undefined,
  { caller, records }: Asker,
): Promise<ServiceError | undefined> {
  if (caller !== undefined && !reachesProject(caller, serving?.project_id))
    return new ServiceError(
      'forbidden',
      'The scope of your token does not include the project of this model.',
    );
  if (serving?.access === 'anyone') return undefined;
  if (caller === undefined) {
    const detail =
      'Sign in with POST /auth/token and send the token as "Authorization: Bearer <token>". Only models that are open to anyone answer without one.';
    return new ServiceError('unauthenticated', detail);
  }
  if (caller.account_type === 'guest')
    return new ServiceError('forbidden', 'This requires an account of type viewer; yours is guest.');
  if (serving === undefined || serving.access === 'viewer') return undefined;
  const { owner_id, project_id } = serving;
  if (caller.account_type === 'admin' || caller.user_id === owner_id) return undefined;
  if (project_id !== null) {
    const [projects, member] = await Promise.all([
      findProjects(records, [project_id]),
      findMember(records, project_id, caller.user_id),
    ]);
    if (projects.items[0]?.owner_id === caller.user_id || member !== undefined) return undefined;
  }
  const detail =
    'This model answers only its owner, admins and the members of the project that trained it (access: members).';
  return new ServiceError('forbidden', detail);
}

/** Requests without an account, by model. */
const buckets = new Map<string, TokenBucket>();

const maxBuckets = 10_000;

/**
 * Count a request without an account.
 * @throws ServiceError `too-many-requests` above the rate of the model
 */
export function throttleStranger({ model_id, requests_per_second: perSecond }: Serving): void {
  const key = `${model_id} ${perSecond}`;
  let bucket = buckets.get(key);
  if (bucket === undefined) {
    if (buckets.size >= maxBuckets) buckets.clear();
    bucket = new TokenBucket({ perSecond, burst: 2 * perSecond });
    buckets.set(key, bucket);
  }
  const seconds = bucket.take();
  if (seconds === 0) return;
  const whole = Math.max(1, Math.ceil(seconds));
  const detail = `This model answers ${perSecond} requests a second to callers without an account; try again in ${whole} s.`;
  throw new ServiceError('too-many-requests', detail, { retryAfterSeconds: whole });
}
