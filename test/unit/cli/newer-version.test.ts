import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { cliContext } from '../../../cli/context.ts';
import { lookForNewerVersion, tellNewerVersion } from '../../../cli/login/newer-version.ts';

test.each([
  [{}, /is older than its service \(1\.10\.0\).* npm install -g http:\S+\/cli\/mps\.tgz\n$/],
  [{ MPS_INSTALLER: 'pip' }, /\(1\.10\.0\)\. http:\S+ shows the line of pip that updates it\.\n$/],
])(
  'a command that is older than its service says so once, and how it is updated',
  async (installer, advice) => {
    const folder = await mkdtemp(join(tmpdir(), 'mps-version-'));
    const server = createServer((_, response) => response.end('{"version":"1.10.0"}')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const said: unknown[] = [];
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(text) > 0);
    try {
      const env = { HOME: folder, ...installer };
      const context = { ...cliContext(process), env };
      lookForNewerVersion(url, env);
      const isKnown = () =>
        access(join(folder, '.config/mps/versions.json')).then(
          () => true,
          () => false,
        );
      while (!(await isKnown())) await delay(5);
      await tellNewerVersion(context);
      await tellNewerVersion(context);
    } finally {
      write.mockRestore();
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    }
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(advice);
  },
);
