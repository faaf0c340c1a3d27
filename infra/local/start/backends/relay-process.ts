import { spawn } from 'node:child_process';
import { boundToParent } from '../../bound-to-parent.ts';
import type { RelayAddress } from './s3-process.ts';

interface RunningRelay {
  pid: number;
  /** Resolves when the process ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts a relay of the DynamoDB engine in a process of its own, where no S3 server is one. Resolves before it listens. */
export function startRelayProcess(program: string, { options, enter }: RelayAddress): RunningRelay {
  const bound = boundToParent(process.execPath, [program, JSON.stringify(options)]);
  const { file, args } = enter(bound.file, bound.args);
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  if (child.pid === undefined) throw new Error('the relay of the DynamoDB engine did not start');
  return {
    pid: child.pid,
    ended,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
