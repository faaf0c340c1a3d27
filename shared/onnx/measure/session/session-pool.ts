import { statSync } from 'node:fs';
import { type GraphOptimization, Session, type SessionOf, untimedThreads } from './session.ts';

/** Sessions of larger model files are not kept, because two of them might not fit into memory. */
export const keptSessionBytes = 2 ** 28;
const maxKept = 2;

/** Identity of a model file. It differs for a file that was replaced at the same path. */
export const modelIdentity = (path: string): string => {
  const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs].join();
};

/**
 * Sessions for successive stages of one process. Opening a session takes as long as some runs, so sessions of
 * small models are kept.
 */
export class SessionPool {
  readonly #kept: { identity: string; session: Session }[] = [];
  readonly #level: GraphOptimization;

  constructor(level: GraphOptimization = 'all') {
    this.#level = level;
  }

  /**
   * Call `use` with a session of the model, on one thread if it is timed.
   * @throws ModelError if ONNX Runtime refuses the model
   */
  async use<T>(
    path: string,
    of: SessionOf,
    use: (session: Session) => Promise<T>,
    threads = untimedThreads,
  ): Promise<T> {
    const identity = `${modelIdentity(path)},${threads}`;
    const at = this.#kept.findIndex((one) => one.identity === identity);
    const [known] = at < 0 ? [] : this.#kept.splice(at, 1);
    const session = known?.session ?? (await Session.open(path, of, this.#level, threads));
    try {
      return await use(session);
    } finally {
      await this.#keep({ identity, session }, path);
    }
  }

  async #keep(one: { identity: string; session: Session }, path: string): Promise<void> {
    if (statSync(path).size <= keptSessionBytes) this.#kept.push(one);
    else await one.session.release();
    while (this.#kept.length > maxKept) await this.#kept.shift()?.session.release();
  }
}
