import type { Params } from '../types.ts';
import { bounds, type Domain, inward, outward, valueAt } from './domain.ts';
import type { Axis } from './parzen.ts';

/** Return the axis on which an estimator sees a domain. */
export function scaleOf(domain: Domain): Scale {
  if (domain.kind === 'choices')
    return {
      axis: { kind: 'choices', count: domain.values.length },
      positionOf(value) {
        const at = value === undefined ? -1 : domain.values.indexOf(value);
        return at < 0 ? undefined : at;
      },
      valueOf: (position) => valueAt(domain, position),
    };
  const [low, high] = bounds(domain);
  const { step } = domain;
  const clip = (position: number) => Math.min(Math.max(position, low), high);
  const cellOf = (position: number): readonly [number, number] => {
    const point = outward(domain, position);
    const half = (step ?? 0) / 2;
    // On a log scale the first point may be smaller than half a step.
    const left = domain.isLog && point <= half ? low : clip(inward(domain, point - half));
    return [left, clip(inward(domain, point + half))];
  };
  return {
    axis: { kind: 'range', low, high, cellOf: step === undefined ? undefined : cellOf },
    positionOf: (value) => (typeof value === 'number' ? clip(inward(domain, value)) : undefined),
    valueOf: (position) => outward(domain, position),
  };
}

/** Values of a parameter as positions on an axis. */
interface Scale {
  axis: Axis;
  /** Undefined for a value that the parameter cannot have, or no value. */
  positionOf(value: Params[string] | undefined): number | undefined;
  valueOf(position: number): Params[string];
}
