interface Client {
  middlewareStack: { remove(name: string): boolean };
}

/** Remove the SDK's logger middleware. It copies every request and response, and no logger is set here. */
export function withoutLog<C extends Client>(client: C): C {
  client.middlewareStack.remove('loggerMiddleware');
  return client;
}
