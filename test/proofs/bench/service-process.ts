import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type Session, signIn } from '../../../infra/tools/demo/demo-service.ts';

export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** Kept length of a service's error output, in UTF-16 units. */
const maxOutput = 4_000;

/** Credentials of the bench. */
const password = 'password of the bench';

export interface RunningService {
  url: string;
  /** Of npm, the parent of all. */
  pid: number;
  /** Seconds from the command to the line "Listening on". */
  secondsToReady: number;
  /** Signs in as admin. */
  signIn(): Promise<Session>;
  stop(): Promise<void>;
}

const Manifest = z.object({ scripts: z.object({ start: z.string() }) });

/** The flags with which `npm start` runs Node. */
export async function nodeFlags(): Promise<string[]> {
  const { scripts } = Manifest.parse(JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')));
  const [, flags = ''] = /node ((?:--\S+ )*)\S+launch\.mjs/.exec(scripts.start) ?? [];
  return flags.split(' ').filter((flag) => flag !== '');
}

type Variables = Readonly<Record<string, string>>;

async function readiness({ stdout }: ChildProcess): Promise<string | undefined> {
  if (stdout === null) return undefined;
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /^Listening on (http:\/\/\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    // Its other output must be read, or its pipe would fill.
    stdout.resume();
    return url;
  }
  return undefined;
}

/** The caller's environment without what would change the service, or let it find AWS. */
function cleanEnvironment(more: Variables): NodeJS.ProcessEnv {
  const foreign =
    /^(AWS_|LIMIT_|NODE_OPTIONS|npm_|(DYNAMODB|S3|BATCH)_ENDPOINT|PORT|DATA_DIR|LOG_LEVEL|REGISTRATION)/;
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return {
    ...Object.fromEntries(own),
    ADMIN_PASSWORD: password,
    // The service is measured, not the throttle of the gateway.
    LIMIT_REQUESTS_PER_SECOND: '1000000',
    LIMIT_ANONYMOUS_TIMES: '1000000',
    ...more,
  };
}

/** Runs `npm start` on a free port, with everything kept in `folder`. @throws Error when it does not start */
export async function startService(folder: string, more: Variables = {}): Promise<RunningService> {
  const begun = performance.now();
  const npm = spawn('npm', ['start', '--silent', '--', '--port', '0', '--data', folder], {
    cwd: projectRoot,
    // Ctrl-C is for the bench, which then stops the service in good order.
    detached: true,
    env: cleanEnvironment(more),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // npm hands the signal on; its output ends with the last process that holds it.
  const closed = once(npm, 'close');
  const stop = async () => {
    npm.kill('SIGTERM');
    await closed;
  };
  let output = '';
  npm.stderr.on('data', (chunk) => {
    output = `${output}${String(chunk)}`.slice(-maxOutput);
  });
  const url = await readiness(npm);
  const secondsToReady = (performance.now() - begun) / 1000;
  if (url === undefined || npm.pid === undefined) throw new Error(`The service did not start. ${output}`);
  const credentials = { username: 'admin', password };
  return { url, pid: npm.pid, secondsToReady, signIn: () => signIn(url, credentials), stop };
}
