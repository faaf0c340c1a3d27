import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { Bench } from '../group.ts';
import type { Answer, HttpClient, HttpRequest } from './peer.ts';

const Timed = z.object({ status: z.int(), text: z.string(), milliseconds: z.number() });

/**
 * Python's HTTP client in a process of its own, which times its requests: what a user of MLflow's client waits for. It sends
 * the headers and the body of a request by themselves, which decides when Linux acknowledges an answer.
 */
export class PythonClient implements HttpClient {
  readonly #requests: NodeJS.WritableStream;
  readonly #answers: AsyncIterator<string>;
  /** Milliseconds that all requests so far took. */
  spent = 0;

  private constructor(requests: NodeJS.WritableStream, answers: AsyncIterator<string>) {
    this.#requests = requests;
    this.#answers = answers;
  }

  static start({ started }: Pick<Bench, 'started'>): PythonClient {
    const program = fileURLToPath(new URL('python_client.py', import.meta.url));
    const child = spawn('python3', [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    started.defer(async () => {
      const ended = once(child, 'close');
      child.stdin.end();
      await ended;
    });
    return new PythonClient(child.stdin, createInterface({ input: child.stdout })[Symbol.asyncIterator]());
  }

  /** One at a time. @throws Error where the process has ended */
  async send(request: HttpRequest): Promise<Answer> {
    this.#requests.write(`${JSON.stringify({ body: null, ...request })}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`python3 ended before ${request.method} ${request.url} was answered`);
    const { milliseconds, ...answer } = Timed.parse(JSON.parse(value));
    this.spent += milliseconds;
    return answer;
  }
}
