import type { CommandUser, Sandbox } from '../../../host/host.ts';
import { type Outcome, supervise } from '../../../process/supervise.ts';
import { noMask, type SecretMask } from '../../host/secret-mask.ts';
import type { RunCommand } from './installer.ts';

interface InstallerOptions {
  user?: CommandUser;
  sandbox?: Sandbox;
  memoryBytes?: number;
  /** Timeout of each step of an installation. */
  timeoutSeconds?: number;
  marker: { name: string; value: string };
  stop: AbortSignal;
  /** Masks secrets in the end of the output, which errors quote. Default: no mask. */
  mask?: SecretMask;
  /** Receives all output as it arrives, for the log. */
  onOutput?(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> | void;
}

/** uv begins with what failed, and all that a compiler wrote comes after it. */
const tailBytes = 64 * 1024;

/**
 * Run installers as supervised processes: without a shell or inherited variables. A stop ends the whole process
 * tree.
 */
export function superviseInstaller(options: InstallerOptions): RunCommand {
  const { onOutput, mask = noMask, ...supervision } = options;
  return async (command) => {
    let tail: Buffer = Buffer.alloc(0);
    let isCut = false;
    const outcome = await supervise({
      ...supervision,
      ...command,
      graceSeconds: 2,
      async onOutput(stream, chunk) {
        isCut ||= tail.length + chunk.length > tailBytes;
        tail = Buffer.concat([tail, chunk]).subarray(-tailBytes);
        await onOutput?.(stream, chunk);
      },
    });
    const text = mask.applyToEnd(tail.toString('utf8'), isCut);
    if (outcome.cause === 'exited') return { exitCode: outcome.exitCode, tail: text };
    return { exitCode: null, tail: text, message: reason(outcome, options) };
  };
}

function reason(
  outcome: Exclude<Outcome, { cause: 'exited' }>,
  { timeoutSeconds = 0, memoryBytes }: InstallerOptions,
): string {
  switch (outcome.cause) {
    case 'signalled':
      return `was ended by ${outcome.signal}`;
    case 'timeout':
      return `took longer than ${timeoutSeconds} s`;
    case 'out-of-memory':
      return outcome.by === 'kernel' || memoryBytes === undefined
        ? 'was killed (signal 9) when the kernel ran out of memory and ended processes'
        : `needed more than ${memoryBytes / 2 ** 20} MiB of memory`;
    case 'stopped':
      return 'was stopped';
    case 'not-started':
      return outcome.message;
  }
}
