import { join } from 'node:path';
import type { ObjectReader } from '../../aws/objects.ts';
import { ServiceError } from '../../core/service-error.ts';
import { modelFileNames } from '../../data/models/model-file.ts';
import type { ServedVersion } from '../../data/models/serving.ts';
import type { RawTensor } from '../protocol/datatypes.ts';
import type { Medium } from '../protocol/signature.ts';
import { afterRunning } from './after-running.ts';
import { contentDigest, ModelFiles } from './model-files.ts';
import { SessionEndedError, SessionGoneError } from './session-errors.ts';
import type { SessionProcess } from './session-process.ts';

/** Limits of all sessions of this process together. */
export interface SessionLimits {
  /** Path of `session-program`. */
  program: string;
  /** Folder for the files of models. */
  folder: string;
  memoryBytes: number;
  diskBytes: number;
  /** Milliseconds of one run. */
  timeLimit: number;
  /** Folders of the service that no process of a model must see. */
  hidden: readonly string[];
}

/** A request to a version. */
interface Run {
  version: ServedVersion;
  /** Memory that the process of this version may take. */
  memoryBytes: number;
  /** Whether it leaves memory last. */
  isWarm: boolean;
  inputs: readonly RawTensor[];
  outputs: readonly string[];
  /** What the inputs are, if they are not those of the model. */
  medium?: Medium | undefined;
}

interface Slot {
  memoryBytes: number;
  isWarm: boolean;
  opening: Promise<SessionProcess>;
  process: SessionProcess | undefined;
  users: number;
  stopIdle: (() => void) | undefined;
}

/**
 * The sessions of the models that were asked last, each in its own process. The memory of all of them stays below the
 * limit: the least recently used one ends, once it is idle.
 */
export class ModelSessions {
  readonly #limits: SessionLimits;
  readonly #files: ModelFiles;
  /** Sessions by digest, the least recently used first. */
  readonly #slots = new Map<string, Slot>();
  #freed = Promise.withResolvers<void>();

  constructor(limits: SessionLimits) {
    this.#limits = limits;
    this.#files = new ModelFiles(limits.folder, limits.diskBytes);
  }

  /**
   * Run a version of a model. If its process ends because of another request, ask a new one.
   * @throws RefusedByRuntimeError, SessionEndedError
   * @throws ServiceError `unavailable` if other models take the memory, or each process that it asks is killed
   */
  async run(
    objects: Pick<ObjectReader, 'read'>,
    run: Run,
  ): Promise<{ outputs: RawTensor[]; isCold: boolean }> {
    for (let attempt = 1; ; attempt += 1) {
      const { slot, isCold } = await this.#slotOf(objects, run);
      try {
        const process = await openedFor(slot, isCold);
        if (process.load >= maxWaiting) {
          const detail = `${maxWaiting} requests wait for this model. Try again shortly.`;
          throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
        }
        return { outputs: await process.run(run.inputs, run.outputs, settingsOf(run)), isCold };
      } catch (error) {
        if (!(error instanceof SessionGoneError)) throw error;
        if (attempt >= maxAttempts) {
          const detail = `${maxAttempts} processes of this model ended before they could answer. Try again shortly.`;
          throw new ServiceError('unavailable', detail, { retryAfterSeconds: 2 });
        }
      } finally {
        this.#release(slot, contentDigest(run.version));
      }
    }
  }

  /** Open a version before it is asked for. */
  async warm(objects: Pick<ObjectReader, 'read'>, run: Omit<Run, 'inputs' | 'outputs'>): Promise<void> {
    const { slot } = await this.#slotOf(objects, { ...run, inputs: [], outputs: [] });
    try {
      await slot.opening;
    } finally {
      this.#release(slot, contentDigest(run.version));
    }
  }

  /** Number of sessions in memory. */
  get held(): number {
    return this.#slots.size;
  }

  /** End all processes. */
  end(): void {
    for (const [digest, slot] of this.#slots) this.#remove(digest, slot);
  }

  async #slotOf(objects: Pick<ObjectReader, 'read'>, run: Run): Promise<{ slot: Slot; isCold: boolean }> {
    const digest = contentDigest(run.version);
    const late = Promise.withResolvers<false>();
    let cancel: (() => void) | undefined;
    for (;;) {
      const present = this.#slots.get(digest);
      if (present !== undefined && present.process?.hasEnded !== true) {
        this.#slots.delete(digest);
        this.#slots.set(digest, present);
        present.users += 1;
        present.isWarm = run.isWarm;
        present.stopIdle?.();
        cancel?.();
        return { slot: present, isCold: false };
      }
      if (present !== undefined) this.#remove(digest, present);
      if (this.#hasRoom(run.memoryBytes)) break;
      cancel ??= afterRunning(this.#limits.timeLimit, () => late.resolve(false));
      await this.#untilFreed(late.promise);
    }
    cancel?.();
    const slot: Slot = {
      memoryBytes: run.memoryBytes,
      isWarm: run.isWarm,
      opening: this.#open(objects, run),
      process: undefined,
      users: 1,
      stopIdle: undefined,
    };
    this.#slots.set(digest, slot);
    slot.opening.then(
      (process) => {
        slot.process = process;
        if (this.#slots.get(digest) !== slot) process.end();
      },
      () => this.#remove(digest, slot),
    );
    return { slot, isCold: true };
  }

  async #open(objects: Pick<ObjectReader, 'read'>, { version, memoryBytes }: Run): Promise<SessionProcess> {
    const { program, timeLimit, hidden } = this.#limits;
    const folder = await this.#files.fetch(objects, version, (digest) => this.#slots.has(digest));
    // It asks the operating system when it is imported.
    const { SessionProcess } = await import('./session-process.ts');
    return SessionProcess.open(join(folder, modelFileNames.model), {
      program,
      memoryBytes,
      timeLimit,
      hidden,
    });
  }

  /** Whether a session of this size fits. End idle sessions for it, warm ones last. */
  #hasRoom(memoryBytes: number): boolean {
    let left =
      this.#limits.memoryBytes - [...this.#slots.values()].reduce((sum, one) => sum + one.memoryBytes, 0);
    const idle = [...this.#slots].filter(([, { users }]) => users === 0);
    for (const [digest, slot] of [
      ...idle.filter(([, one]) => !one.isWarm),
      ...idle.filter(([, one]) => one.isWarm),
    ]) {
      if (left >= memoryBytes) return true;
      left += slot.memoryBytes;
      this.#remove(digest, slot);
    }
    return left >= memoryBytes;
  }

  async #untilFreed(late: Promise<false>): Promise<void> {
    if (await Promise.race([this.#freed.promise.then(() => true), late])) return;
    const detail = 'The models that answer at the moment take the whole memory. Try again shortly.';
    throw new ServiceError('unavailable', detail, { retryAfterSeconds: 2 });
  }

  #release(slot: Slot, digest: string): void {
    slot.users -= 1;
    if (slot.users > 0) return;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
    if (slot.isWarm) return;
    slot.stopIdle?.();
    const remove = () => slot.users === 0 && this.#remove(digest, slot);
    slot.stopIdle = afterRunning(idleMilliseconds, remove, { holdsProcess: false });
  }

  #remove(digest: string, slot: Slot): void {
    if (this.#slots.get(digest) === slot) this.#slots.delete(digest);
    slot.stopIdle?.();
    slot.process?.end();
  }
}

/**
 * Return the process of a slot. One that ended while it was opened for nobody, or for an earlier request, counts as gone: this
 * request opens the model itself.
 */
async function openedFor({ opening }: Slot, isCold: boolean): Promise<SessionProcess> {
  try {
    return await opening;
  } catch (error) {
    if (isCold || !(error instanceof SessionEndedError)) throw error;
    throw new SessionGoneError(error.message);
  }
}

/** How the model answers what the inputs are. */
const settingsOf = ({ medium, version: { texts, images } }: Run) => ({
  ...(medium === 'texts' && texts !== null && { texts }),
  ...(medium === 'images' && images !== null && { images }),
});

/** Requests that may wait for one model. */
const maxWaiting = 64;

/** Processes that a request may ask before it gives up. */
const maxAttempts = 5;

/** An idle session gives its memory back after this time. */
const idleMilliseconds = 10 * 60_000;
