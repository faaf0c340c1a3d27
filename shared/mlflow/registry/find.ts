import { ServiceError } from '../../core/service-error.ts';
import { maxRegistryItem } from '../../data/experiments/logged-model-rules.ts';
import {
  findModelVersion,
  findRegisteredModel,
  listModelVersions,
  type ModelVersion,
  putModelVersion,
  putRegisteredModel,
  type RegisteredModel,
} from '../../data/models/registered-model.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { type MlflowContext, requireDeveloper } from '../protocol/context.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';

/** Find a registered model. @throws ServiceError `RESOURCE_DOES_NOT_EXIST` */
export async function requireRegistered(
  { records }: Pick<MlflowContext, 'records'>,
  name: string,
): Promise<RegisteredModel> {
  const registered = await findRegisteredModel(records, name);
  if (registered === undefined) throw doesNotExist(`Registered Model with name=${name} not found`);
  return registered;
}

/**
 * Find a registered model that the caller owns. Admins may access any.
 * @throws ServiceError `RESOURCE_DOES_NOT_EXIST`, `forbidden`
 */
export async function requireOwn(context: MlflowContext, name: string): Promise<RegisteredModel> {
  requireDeveloper(context);
  const { caller } = context;
  const model = await requireRegistered(context, name);
  if (model.owner_id === caller.user_id || caller.account_type === 'admin') return model;
  throw new ServiceError(
    'forbidden',
    `The registered model ${name} belongs to another user. Only its owner and admins may change it.`,
  );
}

/**
 * Check that a registered model or a version fits into its item. A value that does not grow is always allowed.
 * @throws ServiceError `INVALID_PARAMETER_VALUE`
 */
export function requireRegistryRoom(value: object, previous: object = {}): void {
  const [bytes = 0, before = 0] = [value, previous].map((one) => Buffer.byteLength(JSON.stringify(one)));
  if (bytes <= maxRegistryItem || bytes <= before) return;
  const message = `It would have ${bytes} bytes with its description, tags and aliases; at most ${maxRegistryItem} are allowed.`;
  throw mlflowError('INVALID_PARAMETER_VALUE', message);
}

const digits = /^[1-9]\d{0,8}$/;

/** Parse the number of a version, which clients send as text. */
export function numberOf(version: string): number {
  if (digits.test(version)) return Number(version);
  throw mlflowError(
    'INVALID_PARAMETER_VALUE',
    `Parameter 'version' must be an integer, got '${version.slice(0, 100)}'.`,
  );
}

export async function requireVersion(
  { records }: Pick<MlflowContext, 'records'>,
  { name, registration_id }: RegisteredModel,
  number: number,
): Promise<ModelVersion> {
  const model = await findModelVersion(records, registration_id, number);
  if (model === undefined) throw doesNotExist(`Model Version (name=${name}, version=${number}) not found`);
  return model;
}

export async function allVersions(
  { records }: Pick<MlflowContext, 'records'>,
  registration_id: string | undefined,
): Promise<ModelVersion[]> {
  const versions: ModelVersion[] = [];
  for await (const page of pagesOf((after) => listModelVersions(records, registration_id, { after }))) {
    versions.push(...page.items);
  }
  return versions;
}

/** Change a model that the caller owns. Retry if another change came between. */
export function changeRegistered(
  context: MlflowContext,
  name: string,
  change: (model: RegisteredModel) => Partial<RegisteredModel> | Promise<Partial<RegisteredModel>>,
): Promise<RegisteredModel> {
  return retryOnConflict(async () => {
    const present = await requireOwn(context, name);
    const updated_at = context.now().toISOString();
    const next = { ...present, ...(await change(present)), updated_at, version: present.version + 1 };
    requireRegistryRoom(next, present);
    await context.records.write(putRegisteredModel(next, present));
    return next;
  });
}

/** Change a version of a model that the caller owns. Retry if another change came between. */
export function changeVersion(
  context: MlflowContext,
  name: string,
  version: string,
  change: (version: ModelVersion) => Partial<ModelVersion>,
): Promise<{ model: RegisteredModel; version: ModelVersion }> {
  return retryOnConflict(async () => {
    const model = await requireOwn(context, name);
    const present = await requireVersion(context, model, numberOf(version));
    const updated_at = context.now().toISOString();
    const next = { ...present, ...change(present), updated_at, version: present.version + 1 };
    requireRegistryRoom(next, present);
    await context.records.write(putModelVersion(next, present));
    return { model, version: next };
  });
}
