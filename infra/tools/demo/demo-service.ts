import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { Client } from '../../../shared/client/client.ts';
import { thisHost } from '../../../shared/host/this-host.ts';
import { CommandError } from '../../command/command-error.ts';
import type { Credentials } from './demo-options.ts';

/**
 * Start the program of `npm start` on a free port, with its data in `dataFolder`. It ends with this process.
 * @throws CommandError if it does not start; it prints the reason itself
 */
export async function startDemoService(
  dataFolder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<DemoService> {
  const { file, args } = thisHost.boundToParent(process.execPath, [
    launcher,
    '--port',
    '0',
    '--data',
    dataFolder,
  ]);
  // Use a separate process group: Ctrl-C goes to the demo, which then stops the service in order.
  const service = spawn(file, args, {
    detached: true,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(service, 'exit');
  service.stderr?.pipe(process.stderr, { end: false });
  const stop = async () => {
    if (service.exitCode !== null || service.signalCode !== null) return;
    // Hide the stop messages, which are for people who start the service by hand.
    service.stderr?.unpipe().resume();
    service.kill('SIGTERM');
    await ended;
  };
  const url = await readiness(service);
  try {
    if (url === undefined) throw new CommandError('The service did not start.');
    const password = await adminPassword(dataFolder, environment['ADMIN_PASSWORD']);
    return { url, credentials: { username: 'admin', password }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface DemoService {
  url: string;
  credentials: Credentials;
  stop(): Promise<void>;
}

const launcher = fileURLToPath(new URL('../../local/start/launch.mjs', import.meta.url));

const readyLine = /^Listening on (http:\/\/\S+)$/;

/** Return the service's address when it reports that it is ready, or undefined if it ends before. */
async function readiness({ stdout }: ChildProcess): Promise<string | undefined> {
  if (stdout === null) return undefined;
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const [, url] = readyLine.exec(line) ?? [];
    if (url !== undefined) {
      // The demo does not show the other output, but must read it, or the pipe would fill.
      stdout.resume();
      return url;
    }
  }
  return undefined;
}

async function adminPassword(dataFolder: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const file = join(dataFolder, 'admin-password');
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return kept;
  throw new CommandError(
    `${file} is missing. Set ADMIN_PASSWORD to the password that this data folder was created with.`,
  );
}

export interface Session {
  client: Client;
  token: string;
  /** Id of the user: the first part of every token. */
  user_id: string;
}

/** Sign in to the service at `url`. A given token is not verified. @throws ProblemError | UnreachableError */
export async function signIn(url: string, credentials: Credentials): Promise<Session> {
  const token = 'token' in credentials ? credentials.token : await grantedToken(url, credentials);
  return { client: new Client({ url, token }), token, user_id: token.split('.')[0] ?? '' };
}

async function grantedToken(
  url: string,
  { username, password }: Exclude<Credentials, { token: string }>,
): Promise<string> {
  const body = { grant_type: 'password', username, password } as const;
  return (await new Client({ url }).call<typeof createToken>('POST /auth/token', { body })).access_token;
}
