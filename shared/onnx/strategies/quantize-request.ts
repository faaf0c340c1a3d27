import * as z from 'zod';
import {
  type Checked,
  checkValues,
  choice,
  commonRules,
  names,
  type ValueFault,
  type ValuesOf,
} from './parameter.ts';
import {
  type Combination,
  type QuantizeStrategy,
  quantizeFacts,
  quantizeParameters,
  quantizeStrategyNames,
} from './quantize-strategies.ts';
import { searchRules } from './search-rules.ts';
import { namedTarget, targetFacts, targetNames, targets } from './target.ts';

/** A quantization request with every default filled in. */
export type QuantizeRequest = { operation: 'quantize'; strategy: QuantizeStrategy } & ValuesOf<
  typeof quantizeParameters
>;

/** A strategy with one of its allowed combinations of parameters. */
interface Method extends Combination {
  strategy: QuantizeStrategy;
}

const methodsOf = (strategy: QuantizeStrategy): Method[] =>
  quantizeFacts(strategy).combinations.map((combination) => ({ ...combination, strategy }));

const methods = quantizeStrategyNames.flatMap(methodsOf);

/**
 * Return the schema of each quantization method, for validation and for publication. Schemas are created on first
 * use, not on import.
 */
export const quantizeSchemas = () => methods.map(schemaOf);

function schemaOf(method: Method) {
  const { strategy, precision, quantTypes: types, perChannel, reduceRange, leafNode } = method;
  const { smooths = false, equalizes = false, inputsOnly = false, searches = false } = method;
  const { inBlocks = false, mixes = false } = method;
  const settled = `must be false with ${strategy}`;
  const described = <T extends z.ZodType>(name: keyof typeof quantizeParameters, rule: T): T =>
    rule.describe(quantizeParameters[name].description);
  return z
    .strictObject({
      operation: z.literal('quantize').default('quantize'),
      strategy: z.literal(strategy),
      precision: z.literal(precision, precisionMessage(strategy)),
      quant_type: described('quant_type', z.enum(types, quantTypeMessage(strategy)).default(types[0])),
      leaf_node: described('leaf_node', choice(leafNode ?? false, false, settled)),
      include: described('include', includable(method).default([])),
      per_channel: described('per_channel', choice(perChannel !== undefined, perChannel ?? false, settled)),
      reduce_range: described('reduce_range', choice(reduceRange ?? false, false, settled)),
      for: described('for', z.enum(targets, `must be one of ${targetNames.join(', ')}`).default('any')),
      smooth_alpha: described('smooth_alpha', smoothing(smooths, strategy)),
      equalize: described('equalize', choice(equalizes, false, settled)),
      bias_correction: described('bias_correction', choice(smooths, false, settled)),
      inputs_only: described('inputs_only', choice(inputsOnly, false, settled)),
      block_size: described('block_size', blockSize(inBlocks, strategy)),
      mean_bits: described('mean_bits', meanBits(mixes, method)),
      ...commonRules(quantizeParameters),
      ...searchRules(searches, strategy, quantizeParameters.max_error),
    })
    .describe(
      [quantizeFacts(strategy).description, ...(method.note === undefined ? [] : [method.note])].join(' '),
    );
}

/** Return the error message that names a strategy's precisions. */
function precisionMessage(strategy: QuantizeStrategy): string {
  const later = quantizeFacts(strategy).isCalibrated ? '; 16 bits are not offered yet' : '';
  return `must be ${list(methodsOf(strategy).map(({ precision }) => precision))} with ${strategy}${later}`;
}

const list = (values: readonly (string | number)[]): string => values.join(' or ');

function quantTypeMessage(strategy: QuantizeStrategy): string {
  const own = methodsOf(strategy);
  const each = own.map(({ precision, quantTypes: types }) => {
    const bits = own.length === 1 ? '' : ` of ${precision} bits`;
    return `${list(types)} with ${strategy}${bits}`;
  });
  return `must be ${each.join(', ')}`;
}

const includable = ({ strategy, include }: Method) =>
  include === undefined
    ? names.max(0, `must be empty with ${strategy}`)
    : z.array(z.enum(include, `takes ${list(include)}`)).max(include.length, 'names one twice');

const smoothing = (isOpen: boolean, strategy: QuantizeStrategy) =>
  isOpen
    ? z
        .number('must be a number')
        .positive('must be above 0')
        .max(1, 'must be at most 1')
        .nullable()
        .default(null)
    : z.null(`must not be given with ${strategy}`).default(null);

/** Block sizes that ONNX Runtime's operators take. */
const blockSizes = [16, 32, 64, 128, 256] as const;

const blockSize = (isOpen: boolean, strategy: QuantizeStrategy) =>
  isOpen
    ? z
        .literal(blockSizes, `must be one of ${blockSizes.join(', ')}`)
        .nullable()
        .default(null)
    : z.null(`must not be given with ${strategy}`).default(null);

const meanBits = (isOpen: boolean, { strategy, precision }: Method) =>
  isOpen
    ? z
        .number('must be a number')
        .min(4, 'must be at least 4')
        .max(8, 'must be at most 8')
        .nullable()
        .default(null)
    : z.null(`must not be given with ${strategy} and precision ${precision}`).default(null);

/** A sentence that names the allowed combinations. */
export const allowedQuantizations = methods
  .map(
    ({ strategy, precision, quantTypes: types }) =>
      `${strategy} with precision ${precision} and ${list(types)}`,
  )
  .join('; ');

/** Check a quantization request. Return it with its defaults, or return all errors. */
export function checkQuantization(request: Readonly<Record<string, unknown>>): Checked<QuantizeRequest> {
  const values: typeof request = {
    ...request,
    ...('for' in request && { for: namedTarget(request['for']) }),
  };
  const { strategy, precision } = values;
  if (!isQuantizeStrategy(strategy)) return { faults: checkWithoutStrategy(values) };
  const own = methodsOf(strategy);
  const fitting = own.find((method) => method.precision === precision);
  if (fitting !== undefined)
    return checkValues(schemaOf(fitting), { ...chosenFor(fitting, values), ...values });
  return { faults: refusedByAll(own, values) };
}

const isQuantizeStrategy = (value: unknown): value is QuantizeStrategy =>
  quantizeStrategyNames.some((strategy) => strategy === value);

/** Check the parameters of a request that names no valid strategy. */
function checkWithoutStrategy(values: Readonly<Record<string, unknown>>): ValueFault[] {
  const general: Readonly<Record<string, string>> = {
    precision: oneOf(methods.map(({ precision }) => precision).sort((a, b) => a - b)),
    quant_type: oneOf(methods.flatMap(({ quantTypes: types }) => types)),
  };
  return [
    { name: 'strategy', message: oneOf(quantizeStrategyNames) },
    ...refusedByAll(methods, values).map(({ name, message }) => ({
      name,
      message: general[name] ?? message,
    })),
  ];
}

const oneOf = (values: readonly (string | number)[]): string =>
  `must be one of ${[...new Set(values)].join(', ')}`;

/**
 * Return the errors that every one of these methods reports. An error that only some report depends on the choice
 * of the method.
 */
function refusedByAll(some: readonly Method[], values: Readonly<Record<string, unknown>>): ValueFault[] {
  const [first = [], ...others] = some.map((method) => {
    const checked = checkValues(schemaOf(method), { ...values, strategy: method.strategy });
    return 'faults' in checked ? checked.faults : [];
  });
  return first.filter(({ name }) => others.every((one) => one.some((fault) => fault.name === name)));
}

/** Return the values that the target processor (`for`) implies, as far as the method accepts them. */
function chosenFor(
  { strategy, quantTypes: types, reduceRange }: Method,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const facts = targetFacts(values['for']);
  if (facts === undefined) return {};
  const isStatic = quantizeFacts(strategy).isCalibrated === true;
  return {
    ...(isStatic && types.includes(facts.activations) && { quant_type: facts.activations }),
    ...(reduceRange === true && facts.saturates && { reduce_range: true }),
  };
}
