import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Keeps connections to the local DynamoDB emulator. They go through the Unix socket of its relay, or directly to the
 * emulator where this process was given a way.
 */
export class EmulatorAgent extends Agent {
  readonly #socketPath: string;

  constructor(socketPath: string, options: AgentOptions) {
    super(options);
    this.#socketPath = socketPath;
  }

  override createConnection(
    _options: ClientRequestArgs,
    done?: (error: Error | null, socket: Duplex) => void,
  ): Socket | undefined {
    const relayed = () => connect({ path: this.#socketPath });
    const direct = directWays.get(this.#socketPath);
    if (direct === undefined || done === undefined) return relayed();
    direct().then(
      (socket) => done(null, socket),
      () => done(null, relayed()),
    );
    return undefined;
  }
}

/** Functions that connect to the emulator behind a socket. */
const directWays = new Map<string, () => Promise<Socket>>();

/**
 * Let this process reach the emulator behind `socketPath` without its relay. If `way` fails, the relay is used.
 * @returns a function that undoes it
 */
export function connectDirectly(socketPath: string, way: () => Promise<Socket>): () => void {
  directWays.set(socketPath, way);
  return () => directWays.delete(socketPath);
}
