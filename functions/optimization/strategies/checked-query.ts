import type * as z from 'zod';
import { badRequest, faultsOf, type ParameterFault } from '../../../shared/core/service-error.ts';
import { checkedTogether } from '../../../shared/http/definition/parameters.ts';
import { fargateSize } from '../../../shared/jobs/size.ts';
import type { Checked, ValueFault } from '../../../shared/onnx/strategies/check-values.ts';

/** A query that is also checked as a whole: its method, and the size of its job. */
export const checkedQuery = <S extends z.ZodObject>(schema: S, { method, check, allowed }: Judge): S =>
  checkedTogether(schema, (query) => {
    const asked = Object.fromEntries(Object.keys(method).map((name) => [name, query[name]]));
    const checked = check(asked);
    const faults = 'faults' in checked ? checked.faults : [];
    return [...faults.map((fault) => ({ ...fault, allowed })), ...sizeFaults(query)];
  });

/** The check of the part of a query that chooses the method. */
interface Judge {
  /** Parameters that make up the method. */
  method: z.ZodRawShape;
  check(asked: Values): Checked<unknown>;
  /** All that is allowed, in a sentence. */
  allowed: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Errors of the size of the job as a whole, where each part is valid. */
function sizeFaults({ vcpus, memory }: Values): readonly ParameterFault[] {
  const given = {
    ...(typeof vcpus === 'number' && { vcpus }),
    ...(typeof memory === 'number' && { memory }),
  };
  return Object.keys(given).length === 0 ? [] : faultsOf(() => fargateSize(given));
}

/** The request of a checked query. */
export function requireAllowed<T>(checked: Checked<T>): T {
  if ('request' in checked) return checked.request;
  throw badRequest(checked.faults.map(inQuery));
}

const inQuery = ({ name, message }: ValueFault): ParameterFault => ({ in: 'query', name, message });
