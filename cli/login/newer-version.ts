import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import type { endpoint as readStart } from '../../functions/service/read-start.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { readJson } from '../../shared/core/text/read-json.ts';
import type { CliContext } from '../context.ts';
import { version } from '../version.ts';
import { checkoutFolder } from './checkout.ts';
import { loginFile, writeSecret } from './saved-logins.ts';

/** Ask the service for its version once a day, in the background. */
export function lookForNewerVersion(url: string, env: Variables): void {
  if (checking?.url === url) return;
  const stop = new AbortController();
  checking = { url, stop, done: check(url, env, stop.signal).catch(() => {}) };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Running check in the background. A command that ends first does not wait for it. */
let checking: { url: string; done: Promise<void>; stop: AbortController } | undefined;

const dayMilliseconds = 24 * 60 * 60 * 1000;

async function check(url: string, env: Variables, signal: AbortSignal): Promise<void> {
  const known = await readKnown(env);
  const before = known[url];
  if (before !== undefined && Date.now() - before.checked < dayMilliseconds) return;
  const client = new Client({ url, retries: { attempts: 1, seconds: 0 } });
  const start = await client.call<typeof readStart>('GET /', { signal });
  const found = { checked: Date.now(), version: start.version, told: before?.told ?? '' };
  await writeSecret(fileOf(env), JSON.stringify({ ...known, [url]: found }));
}

/** Per service URL: its version, the time of the check, and the version that the user was told about. */
const Known = z.record(z.string(), z.object({ checked: z.number(), version: z.string(), told: z.string() }));

const readKnown = async (env: Variables) => (await readJson(fileOf(env), Known)) ?? {};

const fileOf = (env: Variables): string => join(dirname(loginFile(env)), 'versions.json');

/**
 * Print a notice once per service version if this command is older. The user of a checkout updates it with git.
 */
export async function tellNewerVersion({ env, printer }: CliContext): Promise<void> {
  if (checking === undefined) return;
  const { url, stop, done } = checking;
  stop.abort();
  await done;
  const known = await readKnown(env);
  const found = known[url];
  if (found === undefined || found.told === found.version || !isNewer(found.version, version)) return;
  printer.say(`This mps (${version}) is older than its service (${found.version}). ${howToUpdate(url, env)}`);
  await writeSecret(fileOf(env), JSON.stringify({ ...known, [url]: { ...found, told: found.version } }));
}

function howToUpdate(url: string, env: Variables): string {
  if (checkoutFolder(env) !== undefined) return 'Update the checkout.';
  // The package for Python starts the command with this variable.
  return env['MPS_INSTALLER'] === 'pip'
    ? `${url} shows the line of pip that updates it.`
    : `Update it: npm install -g ${url}/cli/mps.tgz`;
}

/** Return whether a version such as `1.10.0` is greater than another. */
function isNewer(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => text.split('.').map(Number));
  const difference = first?.map((part, at) => part - (second?.[at] ?? 0)).find((part) => part !== 0);
  return (difference ?? 0) > 0;
}
