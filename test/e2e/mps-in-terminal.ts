import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { everySample } from '../support/samples.ts';
import { openTerminal } from '../support/terminal.ts';

/** One person's session, whose service may be started anew. */
export interface Session {
  scratch: string;
  folder: string;
  service: LocalService;
  /**
   * Ends the service by a signal and starts it again with the same data, at the same address.
   *
   * @param whileAway - what is to happen before it is started again
   */
  restart(signal: 'SIGTERM' | 'SIGKILL', whileAway?: () => Promise<void>): Promise<void>;
}

const away = 'The service cannot be reached; retrying';
const controlC = '\x03';
const erased = '\r\x1b[2K';
/** The log's lines of the service are dim. */
const dim = '\x1b[2m';

/** Says that it has begun, and says more when it was interrupted. */
const patient =
  'sh -c \'if [ -e "$CHECKPOINT_DIR/a" ]; then echo went on; exit 3; fi; touch "$CHECKPOINT_DIR/a"; printf "%s%s\\n" be gun; sleep 600\'';

/** Tests that need a terminal: a person who types, looks, and goes away. They go on where each other ended. */
export function testInTerminal(session: () => Session): void {
  const terminal = (line: string, environment: Readonly<Record<string, string>> = {}, columns = 100) => {
    const { scratch, folder } = session();
    const home = join(scratch, 'home');
    return openTerminal(line, {
      folder,
      columns,
      environment: { HOME: home, MPS_CHECKOUT: home, ...environment },
    });
  };

  test('a password is typed unseen', async () => {
    const typed = terminal(`mps login ${session().service.url}`);
    await typed.shows('User on');
    typed.type('admin\r');
    await typed.shows('Password: ');
    typed.type('correct horse battery\r');
    expect(await typed.ended).toBe(0);
    expect(typed.output()).toContain('Signed in to');
    expect(typed.output()).not.toContain('horse');
  });

  test.runIf(everySample)(
    'Ctrl-C leaves a training running; the line below the log keeps to the width of the terminal',
    async () => {
      const following = terminal(`mps run -- ${patient}`);
      await following.shows('begun');
      await following.shows(/RUNNING {2}\d/);
      following.resize(20, 30);
      await following.shows(new RegExp(`${RegExp.escape(erased)}\\S{0,4}RUNNING .{0,24}$`));
      following.type(controlC);
      await following.shows('Press Ctrl-C again to cancel it');
      expect(await following.ended).toBe(130);
      expect(following.output()).toMatch(/To follow it again: mps logs -f [0-9a-z]{26}/);
      expect(following.output()).toContain(dim);
    },
  );

  test.runIf(everySample)(
    'a service that is started again is waited for: the log goes on, and the program’s exit code comes',
    async () => {
      const following = terminal('mps logs -f latest', { NO_COLOR: '1' });
      await following.shows('begun');
      await session().restart('SIGTERM', () => following.shows(away));
      await following.shows('The service can be reached again.');
      await following.shows('went on');
      expect(await following.ended).toBe(3);
      const output = following.output();
      // A service that ends may take one more connection before it is gone: then it is away twice.
      const times = output.match(/cannot be reached; retrying/g)?.length;
      expect(output.match(/The service can be reached again/g)).toHaveLength(times ?? 0);
      expect(output.match(/begun/g)).toHaveLength(1);
      expect(output).not.toContain(dim);
    },
  );

  test.runIf(everySample)('a token that ends while it is used says how to go on', async () => {
    const { folder } = session();
    expect(await terminal('mps tokens create short --to short').ended).toBe(0);
    const token = (await readFile(join(folder, 'short'), 'utf8')).trim();
    await rm(join(folder, 'short'));
    expect(await terminal('mps run -d -- sleep 600').ended).toBe(0);
    const { url } = session().service;
    const other = terminal('mps logs -f latest', { MPS_URL: url, MPS_TOKEN: token });
    await other.shows('RUNNING');
    const Authorization = `Bearer ${token}`;
    expect((await fetch(`${url}/auth/token`, { method: 'DELETE', headers: { Authorization } })).status).toBe(
      200,
    );
    expect(await other.ended).toBe(4);
    expect(other.output()).toContain('Sign in with "mps login"');
  });

  test('a service that is killed is waited for, and no line is repeated; a second Ctrl-C cancels', async () => {
    expect(await terminal('mps run -d -- sleep 600').ended).toBe(0);
    const own = terminal('mps logs -f latest');
    await own.shows('Attempt 1 of train');
    await session().restart('SIGKILL', () => own.shows(away));
    await own.shows('The service can be reached again.');
    await own.shows('Attempt 2 of train');
    expect(own.output().match(/Attempt 1 of train/g)).toHaveLength(1);
    own.type(controlC);
    await own.shows('Press Ctrl-C again');
    own.type(controlC);
    expect(await own.ended).toBe(130);
    expect(own.output()).toContain('Cancelled');
  });

  test.runIf(everySample)(
    'a service that is killed while a data set is sent is waited for; what had arrived stays sent',
    async () => {
      const { scratch } = session();
      const path = join(scratch, 'large.bin');
      await writeFile(path, '');
      // Many parts, and so much that a fast machine has not sent it before the service is killed.
      await truncate(path, 600_000_000);
      // In a project of its own, so that exporting the other one does not carry it along.
      const pushing = terminal('mps data push large ../large.bin -p large');
      await pushing.shows(/uploading [1-9]/);
      await session().restart('SIGKILL');
      expect(await pushing.ended, pushing.output()).toBe(0);
      expect(pushing.output()).toContain('large  file, 600 MB');
      const again = terminal('mps data push large ../large.bin -p large');
      expect(await again.ended).toBe(0);
      expect(again.output()).toContain('nothing to upload');
      await rm(path);
    },
  );

  test('a reader that goes away ends it without a word', async () => {
    const piped = terminal('mps logs latest --json | head -n 1');
    expect(await piped.ended).toBe(0);
    expect(piped.output()).toMatch(/^\{[^\n]*\}\r?\n$/);
  });

  test.runIf(everySample)(
    'a service that is not there is started if the person likes, and signed in to',
    async () => {
      const { scratch } = session();
      const root = join(import.meta.dirname, '../..');
      const checkout = join(scratch, 'checkout');
      await mkdir(checkout);
      const start = `'${process.execPath}' '${join(root, 'infra/local/start/launch.mjs')}'`;
      await writeFile(join(checkout, 'package.json'), JSON.stringify({ scripts: { start } }));
      const free = await startLocalService(['--data', join(scratch, 'free')]);
      if (!('url' in free)) throw new Error(free.output);
      await free.end('SIGTERM');
      const environment = { HOME: checkout, MPS_CHECKOUT: checkout, MPS_URL: free.url };
      const asking = terminal('mps whoami', environment);
      await asking.shows('in the background? [Y/n]');
      asking.type('\r');
      expect(await asking.ended, asking.output()).toBe(0);
      const [, pid = ''] = /To stop it: kill (\d+)/.exec(asking.output()) ?? [];
      process.kill(-Number(pid), 'SIGTERM');
      expect(asking.output()).toContain('Signed in to');
      expect(asking.output()).toContain(`admin (admin) on ${free.url}`);
    },
  );
}
