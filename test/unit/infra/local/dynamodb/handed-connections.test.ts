import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { beforeEach, expect, test, vi } from 'vitest';
import { connectionsFrom } from '../../../../../infra/local/dynamodb/handed-connections.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** A process that receives orders, and answers none by itself. */
const child = () => Object.assign(new EventEmitter(), { send: vi.fn() });

test('an ordered connection that is lost on the way fails, so that whoever needs it can try again', async () => {
  const connect = connectionsFrom(child() as unknown as ChildProcess);
  const refused = expect(connect()).rejects.toThrow('the connection did not come in time');
  await vi.advanceTimersByTimeAsync(5_000);
  await refused;
});

test('a connection that comes too late is closed', async () => {
  const process = child();
  const late = new Socket();
  connectionsFrom(process as unknown as ChildProcess)().catch(() => {});
  await vi.advanceTimersByTimeAsync(5_000);
  process.emit('message', { connection: 0 }, late);
  expect(late.destroyed).toBe(true);
});

test('a connection that comes in time is the answer, and no timer remains', async () => {
  const process = child();
  const socket = new Socket();
  const ordered = connectionsFrom(process as unknown as ChildProcess)();
  process.emit('message', { connection: 0 }, socket);
  expect(await ordered).toBe(socket);
  expect(vi.getTimerCount()).toBe(0);
});
