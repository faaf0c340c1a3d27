import { nearestName } from '../../shared/core/nearest-name.ts';
import type { Parameter } from '../../shared/onnx/strategies/parameter.ts';
import { pruneParameters, pruneStrategyNames } from '../../shared/onnx/strategies/prune-strategies.ts';
import {
  quantizeParameters,
  quantizeStrategyNames,
  usualPrecision,
} from '../../shared/onnx/strategies/quantize-strategies.ts';

/** What `compress` of a file of gates asks for. */
export interface CiCompression {
  operation: 'prune' | 'quantize';
  strategy: string;
  /** npz file with inputs for calibration. */
  calibration?: string | undefined;
  /** Parameters of the strategy, as flags of the engine. */
  flags: readonly string[];
}

/**
 * Read `compress`. A strategy that both operations have, such as `auto`, quantizes unless `operation: prune`. The engine
 * judges which values go together.
 *
 * @returns the faults of names and kinds
 */
export function parseCompression(fields: Readonly<Record<string, unknown>>): {
  compress: CiCompression;
  faults: string[];
} {
  const { strategy = 'auto', operation: asked, calibration, ...rest } = fields;
  const named = String(strategy);
  const isOfPruningAlone = isOneOf(pruneStrategyNames, named) && !isOneOf(quantizeStrategyNames, named);
  const isPruning = asked === undefined ? isOfPruningAlone : asked === 'prune';
  const operation = isPruning ? 'prune' : 'quantize';
  const strategies: readonly string[] = isPruning ? pruneStrategyNames : quantizeStrategyNames;
  const parameters: Readonly<Record<string, Parameter>> = isPruning ? pruneParameters : quantizeParameters;
  const known = ['strategy', 'operation', 'calibration', ...Object.keys(parameters)];
  const usual = isPruning ? undefined : usualPrecision(named);
  const flags = usual === undefined || 'precision' in rest ? [] : [`--precision=${usual}`];
  const faults = isOneOf(strategies, named)
    ? []
    : [
        `compress.strategy: must be one of ${[...new Set([...quantizeStrategyNames, ...pruneStrategyNames])].join(', ')}.`,
      ];
  if (asked !== undefined && asked !== 'prune' && asked !== 'quantize')
    faults.push('compress.operation: must be quantize or prune.');
  if (calibration !== undefined && typeof calibration !== 'string')
    faults.push('compress.calibration: must be the path of an npz file.');
  for (const [name, value] of Object.entries(rest)) {
    const parameter = parameters[name];
    if (parameter === undefined || !Object.hasOwn(parameters, name)) {
      const near = nearestName(name, known);
      faults.push(
        `compress.${name}: unknown. ${near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`}`,
      );
      continue;
    }
    const flag = flagOf(name.replaceAll('_', '-'), parameter, value);
    if (flag === undefined) faults.push(`compress.${name}: ${parameter.description} ${parameter.usage}`);
    else flags.push(flag);
  }
  return {
    compress: {
      ...{ operation, strategy: named, flags },
      ...(typeof calibration === 'string' && { calibration }),
    },
    faults,
  };
}

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name);

/** Return the flag of a value. Undefined if it is of another kind. */
function flagOf(name: string, { kind, values }: Parameter, value: unknown): string | undefined {
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? `--${value ? '' : 'no-'}${name}` : undefined;
    case 'names': {
      const names = [value].flat();
      return names.every((name) => typeof name === 'string') ? `--${name}=${names.join(',')}` : undefined;
    }
    case 'text':
      return typeof value === 'string' && (values ?? [value]).includes(value)
        ? `--${name}=${value}`
        : undefined;
    default: {
      const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(String(value)) ?? [];
      const number = percent === undefined ? value : Number((Number(percent) / 100).toPrecision(12));
      return typeof number === 'number' && Number.isFinite(number) ? `--${name}=${number}` : undefined;
    }
  }
}
