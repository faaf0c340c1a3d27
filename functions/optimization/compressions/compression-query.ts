import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';
import { badRequest, faultsOf, type ParameterFault } from '../../../shared/core/service-error.ts';
import { checkedTogether, decimalAbove, flag, integer } from '../../../shared/http/definition/parameters.ts';
import { fargateSize, sizeBounds } from '../../../shared/jobs/size.ts';
import type {
  Checked,
  Parameter,
  Parameters,
  ValueFault,
} from '../../../shared/onnx/strategies/parameter.ts';

/** Query parameters for the parameters of an operation's strategies. */
export const queryParameters = (parameters: Parameters): z.ZodRawShape =>
  Object.fromEntries(Object.entries(parameters).map(([name, one]) => [name, queryParameter(one)]));

function queryParameter(parameter: Parameter): z.ZodType {
  const { kind, description, usage, isRequired, otherwise } = parameter;
  const read = readers[kind](parameter);
  const given = otherwise === undefined ? read.optional() : read.default(otherwise);
  return (isRequired === true ? read : given).describe(`${description} ${usage}`);
}

/** Parsers of parameter values, by kind. A later check validates the values for the strategy. */
const readers: Readonly<Record<Parameter['kind'], (parameter: Parameter) => z.ZodType>> = {
  integer: ({ bounds: [least, most] = [0, Number.MAX_SAFE_INTEGER] }) => integer(least, most),
  positive: () => decimalAbove(0, 1_000_000),
  boolean: () => flag,
  text: ({ values = [] }) => named(values),
  names: () => names,
};

/** One of these values. A later check refuses other values, together with all errors of the combination. */
export const named = (values: readonly string[]) => z.string().meta({ type: 'string', enum: [...values] });

/** Names separated by commas. */
const names = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .meta({ type: 'string' });

/** Query parameters of every compression that do not belong to its method. */
export const jobParameters = {
  result_name: FileId.optional().describe(
    'Name under which to register the result as a model, such as `digits-small.onnx`. The name must be free.',
  ),
  vcpus: sizeBounds.vcpus
    .optional()
    .describe('vCPUs of the job, such as `4`. Default: 2 with 4096 MiB, or the least that fits `memory`.'),
  memory: sizeBounds.memory
    .optional()
    .describe('Memory of the job in MiB, such as `8192`. Default: the least that fits `vcpus`.'),
  timeout: sizeBounds.timeout
    .optional()
    .describe('Seconds after which an attempt is stopped. Default: `3600`.'),
  budget: decimalAbove(0, 1_000_000)
    .optional()
    .describe(
      'US$ that the job may cost, such as `0.5`; at least what a minute costs. Then it ends as CANCELLED. Default: up to its timeout.',
    ),
};

/** A query schema that also checks the query as a whole: its method and the size of its job. */
export const checkedQuery = <S extends z.ZodObject>(schema: S, { method, check, allowed }: Judge): S =>
  checkedTogether(schema, (query) => {
    const asked = Object.fromEntries(Object.keys(method).map((name) => [name, query[name]]));
    const checked = check(asked);
    const faults = 'faults' in checked ? checked.faults : [];
    return [...faults.map((fault) => ({ ...fault, allowed })), ...sizeFaults(query)];
  });

/** Check of the query parameters that choose the method. */
interface Judge {
  /** Parameters that make up the method. */
  method: z.ZodRawShape;
  check(asked: Values): Checked<unknown>;
  /** Sentence that lists all allowed combinations. */
  allowed: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Return the errors of the job size as a whole. Each part is already valid. */
function sizeFaults({ vcpus, memory }: Values): readonly ParameterFault[] {
  const given = {
    ...(typeof vcpus === 'number' && { vcpus }),
    ...(typeof memory === 'number' && { memory }),
  };
  return Object.keys(given).length === 0 ? [] : faultsOf(() => fargateSize(given));
}

/** Return the request of a checked query, or throw its faults. */
export function requireAllowed<T>(checked: Checked<T>): T {
  if ('request' in checked) return checked.request;
  throw badRequest(checked.faults.map(inQuery));
}

const inQuery = ({ name, message }: ValueFault): ParameterFault => ({ in: 'query', name, message });
