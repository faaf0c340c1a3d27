import type { ChildProcess } from 'node:child_process';
import { connect, Socket } from 'node:net';
import * as z from 'zod';

/**
 * Answer each order of the parent process with a connection to a port of this process's own network namespace. The
 * parent cannot reach that port itself. It then speaks to the emulator without a relay.
 */
export function handOutConnections(port: number): void {
  process.on('message', (message) => {
    const order = Order.safeParse(message).data;
    if (order === undefined) return;
    const { connection } = order;
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('error', (error) => process.send?.({ connection, error: error.message }));
    socket.once('connect', () => process.send?.({ connection }, socket));
  });
}

/** An order of a connection, under a number that its answer repeats. */
const Order = z.object({ connection: z.int() });

const Answer = Order.extend({ error: z.string().optional() });

/**
 * Time in which an ordered connection comes. A process at its limit of open files cannot receive it: after some tries
 * Node drops the answer, and tells only the process that sent it.
 */
const orderMilliseconds = 5_000;

/** Return a function that orders connections from a child process, which hands them out. */
export function connectionsFrom(child: ChildProcess): () => Promise<Socket> {
  const waiting = new Map<number, PromiseWithResolvers<Socket>>();
  let ordered = 0;
  child.on('message', (message, handle) => {
    const { data: answer } = Answer.safeParse(message);
    const order = answer && waiting.get(answer.connection);
    if (answer === undefined || order === undefined) {
      // It came too late.
      if (handle instanceof Socket) handle.destroy();
      return;
    }
    waiting.delete(answer.connection);
    if (handle instanceof Socket) order.resolve(handle);
    else order.reject(new Error(answer.error ?? 'there is no connection'));
  });
  child.on('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process that connects has ended'));
    waiting.clear();
  });
  return () => {
    const order = Promise.withResolvers<Socket>();
    const connection = ordered;
    ordered += 1;
    waiting.set(connection, order);
    const lost = setTimeout(() => {
      waiting.delete(connection);
      order.reject(new Error('the connection did not come in time'));
    }, orderMilliseconds);
    child.send({ connection }, (error) => {
      if (error === null) return;
      waiting.delete(connection);
      order.reject(error);
    });
    return order.promise.finally(() => clearTimeout(lost));
  };
}
