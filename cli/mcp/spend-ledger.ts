import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { CliError } from '../cli-error.ts';
import type { Session } from '../login/connect.ts';
import { loginFile, writeSecret } from '../login/saved-logins.ts';
import type { ToolAnswer } from './answer-text.ts';

/**
 * Does what costs money once per key of the agent. Before the request that begins it, the ledger writes the request to a
 * file; after it, the answer. A process that is killed in between leaves the request, and the next call with the key sends
 * that very one: the service does the work of an `Idempotency-Key` once.
 */
export class SpendLedger {
  readonly #session: Session;
  readonly #token_id: string;
  readonly #running = new Map<string, { digest: string; answer: Promise<ToolAnswer> }>();

  constructor(session: Session, token_id: string) {
    this.#session = session;
    this.#token_id = token_id;
  }

  /**
   * Begin something, or return the answer of the call that has begun it.
   *
   * @throws CliError if the key is that of another call
   */
  once<Begun>(call: KeyedCall, work: Work<Begun>): Promise<ToolAnswer> {
    const digest = sha256(JSON.stringify([call.tool, call.input]));
    const running = this.#running.get(call.key);
    if (running !== undefined)
      return running.digest === digest ? running.answer : Promise.reject(otherCall(call));
    const answer = this.#once(call, digest, work).finally(() => this.#running.delete(call.key));
    this.#running.set(call.key, { digest, answer });
    return answer;
  }

  async #once<Begun>(call: KeyedCall, digest: string, { begin, show }: Work<Begun>): Promise<ToolAnswer> {
    const id = sha256(`${this.#session.client.url}\n${this.#token_id}\n${call.key}`);
    const file = join(dirname(loginFile(this.#session.env)), 'mcp', `${id}.json`);
    const earlier = await readEntry(file, call);
    if (earlier !== undefined && earlier.digest !== digest) throw otherCall(call);
    if (earlier?.answer !== undefined) return earlier.answer as ToolAnswer;
    const headers = { 'Idempotency-Key': `mcp-${id.slice(0, 40)}` };
    const keep = async (begun: Begun, entry: Entry): Promise<ToolAnswer> => {
      const answer = show(begun);
      await writeSecret(file, JSON.stringify({ ...entry, answer }));
      return answer;
    };
    if (earlier !== undefined) {
      requireFresh(earlier, call);
      const { route, request } = earlier;
      try {
        const again = { ...request, headers } as never;
        return await keep((await this.#session.client.call(route as never, again)) as Begun, earlier);
      } catch (error) {
        if (!hasBegunNothing(error)) throw error;
        await rm(file, { force: true });
        // The project has other inputs by now: what was not begun begins with them.
        if (!(error instanceof ProblemError && error.status === 409 && error.faults.length > 0)) throw error;
      }
    }
    let entry: Entry | undefined;
    const client = this.#session.client.preparing(async (route, request) => {
      if (!spendingRoutes.has(route)) return {};
      const { path, query, body } = request;
      const written = {
        tool: call.tool,
        digest,
        at: Date.now(),
        route,
        request: sent({ path, query, body }),
      };
      await (entry === undefined ? claim(file, written, call) : writeSecret(file, JSON.stringify(written)));
      entry = written;
      return headers;
    });
    try {
      const begun = await begin({ ...this.#session, client });
      if (entry === undefined) throw new Error(`${call.tool} has begun nothing`);
      return await keep(begun, entry);
    } catch (error) {
      if (entry !== undefined && hasBegunNothing(error)) await rm(file, { force: true });
      throw error;
    }
  }
}

/** A call that may cost money. */
interface KeyedCall {
  tool: string;
  /** Key of the agent. */
  key: string;
  input: unknown;
}

interface Work<Begun> {
  /** Do the work with a session whose client notes the request that costs money. Return its answer. */
  begin(session: Session): Promise<Begun>;
  show(begun: Begun): ToolAnswer;
}

/** Requests that begin what may cost money, each of which accepts an `Idempotency-Key`. */
const spendingRoutes: ReadonlySet<string> = new Set([
  'POST /projects/{project_id}/train',
  'POST /projects/{project_id}/train-remote',
  'POST /projects/{project_id}/experiments/{experiment_id}/rerun',
  'POST /projects/{project_id}/sweeps',
  'POST /optimization/prune',
  'POST /optimization/quantize',
]);

const Entry = z.object({
  tool: z.string(),
  /** Of the tool and its input. */
  digest: z.string(),
  /** Epoch milliseconds of the request. */
  at: z.number(),
  route: z.string(),
  request: z.record(z.string(), z.unknown()),
  /** Absent while its outcome is unknown. */
  answer: z.optional(z.unknown()),
});
type Entry = z.infer<typeof Entry>;

/** Return what JSON keeps of a request: what it leaves out was not sent. */
const sent = (request: object): Entry['request'] => JSON.parse(JSON.stringify(request));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function readEntry(file: string, { key }: KeyedCall): Promise<Entry | undefined> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (content === undefined) return undefined;
  try {
    return Entry.parse(JSON.parse(content));
  } catch {
    throw new CliError(`The record of the key ${key} in ${file} is damaged. ${look}`);
  }
}

/** Write the first record of a key, unless another process has just done so. */
async function claim(file: string, entry: Entry, { key }: KeyedCall): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify(entry), { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      throw new CliError(`A call with the key ${key} is in progress. Repeat it later to get its answer.`);
    },
  );
}

/** Milliseconds for which the service surely knows a key: a day, less what clocks differ. */
const freshMilliseconds = 20 * 60 * 60 * 1000;

const look = 'See with find_runs what was begun, and use a new key for what was not.';

/** @throws CliError for a request whose outcome the service may have forgotten: it could begin a second time */
function requireFresh({ at }: Entry, { key }: KeyedCall): void {
  if (Math.abs(Date.now() - at) < freshMilliseconds) return;
  throw new CliError(`The call with the key ${key} was interrupted too long ago to be repeated. ${look}`);
}

const otherCall = ({ key }: KeyedCall): CliError =>
  new CliError(`The key ${key} was used for a call with another input. Use a new key for each intent.`);

/** Whether an error says for sure that nothing began. One that came in between two tries of a request does not. */
const hasBegunNothing = (error: unknown): boolean =>
  error instanceof ProblemError &&
  error.status >= 400 &&
  error.status < 500 &&
  !error.message.includes('Idempotency-Key');
