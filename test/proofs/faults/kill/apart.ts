import { spawn } from 'node:child_process';
import { boundToParent } from '../../../../shared/host/linux/bound-to-parent.ts';

/** What a process answers: what it was asked for, or why not. */
type Answer<R> = { answer: R } | { error: string };
type Request<G, Q> = { given: G } | { question: Q } | 'end';

/** Makes what answers one question after the other; what it starts along the way is stopped with it. */
export type Start<G, Q, R> = (
  started: AsyncDisposableStack,
  given: G,
) => Promise<(question: Q) => Promise<R>>;

/**
 * Starts a process whose program, at `file`, calls `serveApart` with a `Start` of these types; answers how it is asked.
 * Lanes in one process would share its one turn at the processor, and a kernel that shares the processor out by
 * sessions would give all lanes of a session what it gives to any other program.
 */
export async function startApart<G, Q, R>(
  started: AsyncDisposableStack,
  file: string,
  given: G,
): Promise<(question: Q) => Promise<R>> {
  const program = boundToParent(process.execPath, [file]);
  const child = spawn(program.file, program.args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    detached: true,
  });
  const ended = new Promise<undefined>((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('close', () => resolve(undefined));
  });
  const send = (request: Request<G, Q>) =>
    new Promise<void>((resolve) => {
      // That it is gone is seen by its end.
      child.send(request, () => resolve());
    });
  started.defer(async () => {
    await send('end');
    await ended;
  });
  const ask = async (request: Request<G, Q>): Promise<R> => {
    const heard = new Promise<Answer<R>>((resolve) => child.once('message', resolve as () => void));
    await send(request);
    const reply = await Promise.race([heard, ended]);
    if (reply === undefined)
      throw new Error(`the process of a lane ended with ${child.signalCode ?? child.exitCode}`);
    if ('error' in reply) throw new Error(reply.error);
    return reply.answer;
  };
  await ask({ given });
  return (question) => ask({ question });
}

/** The program of such a process. */
export function serveApart<G, Q, R>(start: Start<G, Q, R>): void {
  const started = new AsyncDisposableStack();
  let answer: ((question: Q) => Promise<R>) | undefined;
  const work = async (request: Exclude<Request<G, Q>, 'end'>): Promise<R | undefined> => {
    if ('question' in request) return answer?.(request.question);
    answer = await start(started, request.given);
    return undefined;
  };
  const send = (reply: Answer<R | undefined>) => void process.send?.(reply);
  process.on('message', (request: Request<G, Q>) => {
    if (request === 'end') {
      void started.disposeAsync().finally(() => process.exit());
      return;
    }
    work(request).then(
      (one) => send({ answer: one }),
      (error: unknown) =>
        send({ error: (error instanceof Error ? error.stack : undefined) ?? String(error) }),
    );
  });
}
