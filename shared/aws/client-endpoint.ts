import type { Environment } from '../core/needs.ts';

/** Region and endpoint of a client. Uses the region's endpoint unless the variable names another one. */
export function clientEndpoint(
  environment: Environment,
  endpointVariable: string,
): { region?: string; endpoint?: string } {
  const region = environment['AWS_REGION'];
  const endpoint = environment[endpointVariable];
  return { ...(region !== undefined && { region }), ...(endpoint !== undefined && { endpoint }) };
}

/** Share one client among all environments with the same region and endpoint. Creates it at its first use. */
export function oncePerEndpoint<C>(
  endpointVariable: string,
  make: (environment: Environment) => C,
): (environment: Environment) => C {
  const made = new Map<string, { client: C }>();
  return (environment) => {
    const key = JSON.stringify(clientEndpoint(environment, endpointVariable));
    const present = made.get(key) ?? { client: make(environment) };
    made.set(key, present);
    return present.client;
  };
}

/** Create one client for each environment, at its first use. */
export function oncePerEnvironment<C>(
  make: (environment: Environment) => C,
): (environment: Environment) => C {
  const made = new WeakMap<Environment, { client: C }>();
  return (environment) => {
    let present = made.get(environment);
    if (present === undefined) {
      present = { client: make(environment) };
      made.set(environment, present);
    }
    return present.client;
  };
}
