import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, glob, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../shared/host/host.ts';
import { canSandbox } from '../../../shared/host/linux/sandbox.ts';
import { findProcesses } from '../../../shared/process/process-tree.ts';
import type { SupervisedCommand } from '../../../shared/process/supervise.ts';
import { testUser } from '../../support/test-users.ts';
import { Workbench } from '../runner/workbench.ts';

const isRoot = process.getuid?.() === 0;
const user = testUser('a command in a sandbox');
const bench = new Workbench();

/** A data folder with secrets, the run of this command and one of another. */
interface House {
  data: string;
  run: string;
  other: string;
}

async function build(cwd: string): Promise<House> {
  const data = join(cwd, 'data');
  const [run, other] = [join(data, 'work/run'), join(data, 'work/other')];
  for (const folder of [join(run, 'own'), join(run, 'home'), other]) await mkdir(folder, { recursive: true });
  for (const folder of [cwd, data, join(data, 'work'), run, other]) await chmod(folder, 0o755);
  for (const path of [join(data, 'credentials.json'), join(run, 'own/part'), join(other, 'train.py')]) {
    await writeFile(path, 'secret');
    await chmod(path, 0o644);
  }
  if (isRoot) await chown(join(run, 'home'), user.uid, user.gid);
  return { data, run, other };
}

describe.runIf(canSandbox())('a command in a sandbox', () => {
  let house: House;
  let sandbox: Sandbox;

  beforeEach(async () => {
    house = await build(bench.cwd);
    sandbox = {
      scratch: join(house.run, 'own'),
      hidden: [house.data, join(house.run, 'own')],
      kept: [{ path: house.run, readOnly: false }],
    };
  });

  const sh = (script: string, options: Partial<SupervisedCommand> = {}) =>
    bench.sh(script, {
      cwd: join(house.run, 'home'),
      sandbox,
      ...(isRoot && { user }),
      ...options,
    });

  test('sees of the data folder only its own run, from where it stands, too', async () => {
    const { stdout, outcome } = await sh(
      `find ${house.data} -type f; cat ${house.data}/credentials.json ../own/part ../../other/train.py; pwd; echo mine > kept; cat kept`,
    );
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    expect(stdout).toBe(`${house.run}/home\nmine\n`);
    expect(await readFile(join(house.run, 'home/kept'), 'utf8')).toBe('mine\n');
  });

  describe('without an entry of a folder', () => {
    let above: string;

    beforeEach(async () => {
      // A command has a /tmp of its own, so the folder cannot lie there, as this checkout may.
      const checkout = resolve('node_modules/.cache');
      const elsewhere = isRoot ? '/opt' : homedir();
      const parent = /^(\/var)?\/tmp\//.test(checkout) ? elsewhere : checkout;
      await mkdir(parent, { recursive: true });
      above = await mkdtemp(join(parent, 'above-'));
      await chmod(above, 0o755);
      await mkdir(join(above, '.git'));
      await writeFile(join(above, '.git/HEAD'), 'ref: refs/heads/main\n');
    });
    afterEach(() => rm(above, { recursive: true, force: true }));

    test('does not find it, and finds the others as they are', async () => {
      await mkdir(join(above, 'a folder'));
      await writeFile(join(above, 'a folder', '-file'), 'deep\n');
      await writeFile(join(above, 'a folder', '.git'), 'gitdir: elsewhere\n');
      await writeFile(join(above, '.settings'), 'next to it\n');
      await symlink('.settings', join(above, 'link'));
      await symlink('nowhere', join(above, 'broken'));
      const absent = [join(above, '.git'), join(above, 'a folder/.git'), join(above, 'unknown/.git')];

      const { stdout } = await sh(
        `cd ${above}; ls -A . 'a folder'; cat 'a folder/-file' link; readlink broken`,
        {
          sandbox: { ...sandbox, absent },
        },
      );

      expect(stdout.split('\n').filter((line) => line !== '')).toEqual([
        ...['.:', '.settings', 'a folder', 'broken', 'link'],
        ...['a folder:', '-file', 'deep', 'next to it', 'nowhere'],
      ]);
    });

    test('finds it empty if the folder has more than 500 entries', async () => {
      for (let count = 0; count < 500; count += 1) await writeFile(join(above, String(count)), '');

      const { stdout } = await sh(`ls -A ${above}/.git; ls ${above} | wc -l`, {
        sandbox: { ...sandbox, absent: [join(above, '.git')] },
      });

      expect(stdout).toBe('500\n');
    });
  });

  test('sees and ends no processes but its own', async () => {
    const neighbour = spawn('sleep', ['60'], { stdio: 'ignore' });
    const { stdout } = await sh(
      `cat /proc/[0-9]*/cmdline | tr '\\0' ' '; kill -9 ${neighbour.pid} || echo nobody; (kill -9 -1); ls -d /proc/[0-9]*`,
    );
    expect(stdout).toContain('nobody');
    expect(stdout).not.toContain('sleep 60');
    expect(stdout).not.toContain(`/proc/${process.pid}\n`);
    expect(neighbour.exitCode ?? neighbour.signalCode).toBeNull();
    neighbour.kill('SIGKILL');
  });

  test('has its variables as they are, and no process shows their values as arguments', async () => {
    const env = {
      PATH: '/usr/bin:/bin',
      EMPTY: '',
      TOKEN: `secret-${randomUUID()} "$HOME" 'one'\\\n# two\ttail `,
    };
    let shown = '';
    const print = 'printf "%s|%s|" "$TOKEN" "$EMPTY"; env | grep -c "^VARIABLE_"';
    const { stdout } = await sh(`${print}; until test -e looked; do sleep 0.05; done`, {
      env,
      onOutput: async () => {
        const files = await Array.fromAsync(glob('/proc/[0-9]*/cmdline'));
        shown += (await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))).join();
        await writeFile(join(house.run, 'home/looked'), '');
      },
    });
    expect(stdout).toBe(`${env.TOKEN}||0\n`);
    const isShown = (text: string) => shown.includes(text);
    expect(isShown('TOKEN=${VARIABLE_')).toBe(true);
    expect(isShown(env.TOKEN.slice(0, 43))).toBe(false);
  });

  test('has /tmp, /dev/shm and System V memory of its own, which leave nothing behind', async () => {
    const name = `mps-${process.pid}-own`;
    const fill = `for folder in /tmp /var/tmp /dev/shm; do echo a > $folder/${name}; done; ipcmk -M 64`;
    const look = `ls /dev/shm /tmp/${name} /var/tmp/${name}; ipcs -m | grep -c 0x`;
    expect((await sh(`${fill} > /dev/null; ${look}`)).stdout).toBe(
      `/tmp/${name}\n/var/tmp/${name}\n\n/dev/shm:\n${name}\n1\n`,
    );
    expect((await sh(look)).stdout).toBe('/dev/shm:\n0\n');
    expect(existsSync(`/tmp/${name}`) || existsSync(`/dev/shm/${name}`)).toBe(false);
  });

  test('has none of the descriptors by which it was made', async () => {
    const { stdout } = await sh(
      'for n in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && echo $n; done; echo none',
    );
    expect(stdout).toBe('none\n');
  });

  test('cannot undo it, has its own ids and no way to more', async () => {
    const { stdout } = await sh(
      `umount ${house.data}; mount -t tmpfs none /tmp; id -u; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; ls /proc/1/root`,
    );
    expect(stdout).toBe(
      `${isRoot ? user.uid : process.getuid?.()}\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n`,
    );
  });

  test.runIf(isRoot)(
    'has a name, a group and a home, also where the system has none for its id',
    async () => {
      const home = join(house.run, 'home');
      const { stdout } = await sh(
        'id -un; id -gn; getent passwd $(id -u); id -u root; echo x >> /etc/passwd',
        {
          sandbox: { ...sandbox, home },
        },
      );
      expect(stdout).toBe(`job\njob\njob:x:${user.uid}:${user.gid}::${home}:/bin/sh\n0\n`);
      expect(await readFile('/etc/passwd', 'utf8')).not.toContain(home);
    },
  );

  test('cannot change what it may only read', async () => {
    await chmod(house.other, 0o777);
    const kept = [...sandbox.kept, { path: house.other, readOnly: true }];
    const { stdout } = await sh(
      `cat ${house.other}/train.py; echo worse > ${house.other}/new || echo refused`,
      {
        sandbox: { ...sandbox, kept },
      },
    );
    expect(stdout).toBe('secretrefused\n');
  });

  test.each([
    ['exit 7', { cause: 'exited', exitCode: 7 }],
    ['exit 137', { cause: 'exited', exitCode: 137 }],
    ['kill -s KILL $$', { cause: 'signalled', signal: 'SIGKILL' }],
    ['kill -s SEGV $$', { cause: 'signalled', signal: 'SIGSEGV' }],
  ])('ends as it does: %s', async (script, ending) => {
    expect((await sh(script)).outcome).toMatchObject(ending);
  });

  test('is asked once to stop, and so are its workers, which may save although it is gone', async () => {
    const stop = new AbortController();
    const worker = 'trap "sleep 0.3; echo saved; exit" TERM; echo up; while :; do sleep 0.05; done';
    await writeFile(join(house.run, 'home/worker'), `#!/bin/sh\n${worker}\n`, { mode: 0o755 });
    const main = 'trap "echo asked" TERM; ./worker & wait; echo "ended"';
    const { stdout, outcome } = await sh(main, { stop: stop.signal, onOutput: () => stop.abort() });
    expect(stdout.match(/asked/g)).toHaveLength(1);
    expect(stdout).toContain('saved');
    expect(outcome).toMatchObject({ cause: 'stopped', killed: false });
    expect(await findProcesses({ marker: bench.marker })).toEqual([]);
  });

  test('leaves nothing running, whatever session it went to', async () => {
    const { outcome } = await sh('setsid -f env -i sleep 61.5; echo up');
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    const list = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    expect(list).not.toContain('sleep 61.5');
  });
});
