import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { endpoint as readHealth } from '../../functions/service/read-health.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { wait } from '../../shared/client/retry.ts';
import type { CliContext } from '../context.ts';
import { LiveLine } from '../output/live-line.ts';
import { secondsText } from '../output/units.ts';
import { ask } from './ask.ts';
import { checkoutFolder, dataFolderOf } from './checkout.ts';
import { chosenLogin } from './connect.ts';
import { isLoopback } from './service.ts';

/**
 * Offer to start the checkout's service if no local service answers. Do not ask without a terminal.
 *
 * @returns whether the service now runs, so the command can be retried
 */
export async function offerToStart(context: CliContext): Promise<boolean> {
  const { env, process } = context;
  const checkout = checkoutFolder(env);
  if (checkout === undefined || process.stdin.isTTY !== true) return false;
  const { url } = await chosenLogin(env);
  if (!isLoopback(new URL(url).hostname) || (await answers(url))) return false;
  const answer = await ask('Start the service of this checkout in the background? [Y/n] ').catch(() => 'n');
  return /^(y(es)?)?$/i.test(answer.trim()) && start(checkout, url, context);
}

const answers = (url: string): Promise<boolean> =>
  new Client({ url, retries: { attempts: 1, seconds: 0 } }).call<typeof readHealth>('GET /health').then(
    () => true,
    () => false,
  );

/** Timeout in milliseconds. It is long because the first start installs dependencies. */
const maxMilliseconds = 300_000;

const pollMilliseconds = 200;

/** Start the service of a checkout in the background. Return false if it does not come up. */
async function start(checkout: string, url: string, { printer }: CliContext): Promise<boolean> {
  const folder = dataFolderOf(checkout);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'service.log');
  const log = await open(file, 'w', 0o600);
  const args = ['start', '--silent', '--', '--port', new URL(url).port || '80'];
  const service = spawn('npm', args, { cwd: checkout, detached: true, stdio: ['ignore', log.fd, log.fd] });
  service.unref();
  let hasEnded = false;
  once(service, 'exit').then(
    () => {
      hasEnded = true;
    },
    () => {
      hasEnded = true;
    },
  );
  await log.close();
  const line = new LiveLine(printer);
  const since = performance.now();
  try {
    while (!hasEnded && performance.now() - since < maxMilliseconds) {
      if (await answers(url)) {
        line.end();
        printer.say(`The service runs at ${url}; its log is ${file}. To stop it: kill ${service.pid}`);
        return true;
      }
      line.set(`starting…  ${secondsText((performance.now() - since) / 1000)}`);
      await wait(pollMilliseconds);
    }
  } finally {
    line.end();
  }
  printer.say(
    `The service did not start:\n${(await readFile(file, 'utf8')).trimEnd().split('\n').slice(-5).join('\n')}`,
  );
  return false;
}
