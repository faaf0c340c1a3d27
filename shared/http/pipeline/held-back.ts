import type { TableReader, TableWriter } from '../../data/table/table.ts';

type Table = TableReader<'records' | 'accounts'> | TableWriter<'records' | 'accounts'>;

const isTable = (service: object): service is Table => 'batchGet' in service;

/** A service whose calls, all of which are asynchronous, wait. */
const held = (service: object, confirmed: Promise<void>): object =>
  new Proxy(service, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        await confirmed;
        return Reflect.apply(value, target, given);
      };
    },
  });

/**
 * Services of a request of which it is not certain yet who sends it: tables are read at once. All else waits until
 * `confirmed`, and does nothing where that is rejected.
 */
export const heldBack = (
  services: Readonly<Record<string, unknown>>,
  confirmed: Promise<void>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(services).map(([name, service]) => {
      if (typeof service !== 'object' || service === null) return [name, service];
      if (!isTable(service)) return [name, held(service, confirmed)];
      if (!('writable' in service)) return [name, service];
      const write: typeof service.write = async (...writes) => {
        await confirmed;
        return service.write(...writes);
      };
      return [name, { ...service, write }];
    }),
  );
