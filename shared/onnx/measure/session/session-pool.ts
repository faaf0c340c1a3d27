import { statSync } from 'node:fs';
import { type GraphOptimization, Session, type SessionOf } from './session.ts';

/** Sessions of larger model files are not kept: two of them might have no room side by side. */
export const keptSessionBytes = 2 ** 28;
const maxKept = 2;

/** What tells a model's file from another one, also from one that lay at the same path before. */
export const modelIdentity = (path: string): string => {
  const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs].join();
};

/**
 * Sessions that stages of one process use one after the other: to open one takes as long as some runs. A session is kept
 * after its use where its model is small.
 */
export class SessionPool {
  readonly #kept: { identity: string; session: Session }[] = [];
  readonly #level: GraphOptimization;

  constructor(level: GraphOptimization = 'all') {
    this.#level = level;
  }

  /** Call `use` with a session of the model. @throws ModelError where ONNX Runtime does not take the model */
  async use<T>(path: string, of: SessionOf, use: (session: Session) => Promise<T>): Promise<T> {
    const identity = modelIdentity(path);
    const at = this.#kept.findIndex((one) => one.identity === identity);
    const [known] = at < 0 ? [] : this.#kept.splice(at, 1);
    const session = known?.session ?? (await Session.open(path, of, this.#level));
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
