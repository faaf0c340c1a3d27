interface Client {
  middlewareStack: { remove(name: string): boolean };
}

/**
 * The client, which no longer copies what it sends and gets for the SDK's logger: that is done for each call, and here
 * nobody listens.
 */
export function withoutLog<C extends Client>(client: C): C {
  client.middlewareStack.remove('loggerMiddleware');
  return client;
}
