import { spawn } from 'node:child_process';
import { boundToParent } from '../bound-to-parent.ts';
import { findEngine } from './find-engine.ts';
import type { NetworkNamespaces } from './network-namespace.ts';

/** Free in every network that is new. */
const port = 8000;

export interface ClosedDynamoDb {
  pid: number;
  /** Where it listens in its own network. */
  port: number;
  /** Resolves when the engine ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the embedded DynamoDB engine, with its records in `file`, in a network of its own: nothing of this machine
 * reaches its port but what is started in that network. Resolves before it responds.
 */
export async function startClosedDynamoDb(
  namespaces: NetworkNamespaces,
  file: string,
): Promise<ClosedDynamoDb> {
  const parameters = ['serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', file];
  const bound = boundToParent(findEngine().program, parameters);
  const { file: command, args } = namespaces.create(bound.file, bound.args);
  // A session of its own: Ctrl-C is for the service, which stops its engines in order.
  const engine = spawn(command, args, { stdio: 'ignore', detached: true });
  const ended = new Promise<void>((resolve) => {
    engine.once('exit', () => resolve());
    engine.once('error', () => resolve());
  });
  const { pid } = engine;
  if (pid === undefined) throw new Error('the DynamoDB engine did not start');
  await Promise.race([namespaces.entered(pid), ended]);
  return {
    pid,
    port,
    ended,
    async close() {
      engine.kill('SIGTERM');
      await ended;
    },
  };
}
