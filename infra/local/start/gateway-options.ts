import { readCorsOrigins } from '../../../shared/core/cors-origins.ts';
import { CommandError } from '../../command/command-error.ts';
import type { AdmissionLimits } from '../gateway/admission.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Variables for the limits of the gateway. */
const variables = {
  perSecond: 'LIMIT_REQUESTS_PER_SECOND',
  burst: 'LIMIT_REQUEST_BURST',
  inFlight: 'LIMIT_REQUESTS_IN_FLIGHT',
  waiting: 'LIMIT_REQUESTS_WAITING',
} as const satisfies Record<keyof AdmissionLimits, string>;

const bodyVariable = 'LIMIT_BODY_BYTES';

const timesVariable = 'LIMIT_ANONYMOUS_TIMES';

export const gatewayVariables: readonly string[] = [...Object.values(variables), bodyVariable, timesVariable];

function readLimit(environment: Variables, name: string): number | undefined {
  const given = environment[name];
  if (given === undefined || given === '') return undefined;
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new CommandError(`${name} must be a whole number from 1 to 999999999, not "${given}".`);
}

/** Limits that were set; where only the requests a second are, twice as many may come at once. @throws CommandError */
export function readLimits(environment: Variables): Partial<AdmissionLimits> {
  const perSecond = readLimit(environment, variables.perSecond);
  const burst = readLimit(environment, variables.burst) ?? (perSecond && 2 * perSecond);
  const inFlight = readLimit(environment, variables.inFlight);
  const waiting = readLimit(environment, variables.waiting);
  return {
    ...(perSecond !== undefined && { perSecond }),
    ...(burst !== undefined && { burst }),
    ...(inFlight !== undefined && { inFlight }),
    ...(waiting !== undefined && { waiting }),
  };
}

/** Most bytes of all bodies together, where that was set. @throws CommandError */
export const readBodyBytes = (environment: Variables): number | undefined =>
  readLimit(environment, bodyVariable);

/** Factor on the throttles of public operations, if set. @throws CommandError */
export const readAnonymousTimes = (environment: Variables): number | undefined =>
  readLimit(environment, timesVariable);

/** The origins of `CORS_ORIGINS`. @throws CommandError */
export function readOrigins(environment: Variables): readonly string[] {
  try {
    return readCorsOrigins(environment);
  } catch (error) {
    throw new CommandError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
