import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { DownloadCache } from '../../../../../shared/runner/environment/downloads/download-cache.ts';
import { IndexRelay } from '../../../../../shared/runner/environment/downloads/index-relay.ts';
import { prepareEnvironment } from '../../../../../shared/runner/environment/prepare-environment.ts';
import { sha256Of, startPackageIndex } from '../../../../support/package-index.ts';
import { everySample } from '../../../../support/samples.ts';
import { type EnvironmentFixture, makeFixture, options, removeFixture } from '../environment-fixture.ts';
import { writeWheel } from '../packages.ts';

/** A bucket in memory. */
class MemoryBucket {
  readonly objects = new Map<string, Buffer>();

  async open(key: string) {
    const bytes = this.objects.get(key);
    return bytes && { body: Readable.from([bytes]), size: bytes.length, etag: undefined };
  }

  async head(key: string) {
    const bytes = this.objects.get(key);
    return bytes && { size: bytes.length, sha256: undefined };
  }

  async putFile(key: string, path: string) {
    this.objects.set(key, await readFile(path));
  }
}

const wheel = 'tiny-1.0-py3-none-any.whl';
let fixture: EnvironmentFixture;
let bytes: Buffer;
let folder: string;
beforeEach(async () => {
  fixture = await makeFixture();
  folder = join(fixture.folder, 'downloads');
  await writeWheel(join(fixture.folder, wheel), '1.0');
  bytes = await readFile(join(fixture.folder, wheel));
});
afterEach(() => removeFixture(fixture));

async function relayOf(index: string, bucket?: MemoryBucket) {
  const relay = new IndexRelay([index], new DownloadCache(folder, bucket), { proxies: {} }, 'a'.repeat(32));
  const [url = ''] = await relay.start();
  const read = async (project = 'tiny') => {
    const page = await fetch(`${url}${project}/`);
    const [, href = ''] = /href="([^"]*)"/.exec(await page.text()) ?? [];
    return fetch(new URL(href, url));
  };
  return { relay, url, read };
}

describe('a relay of package indexes', () => {
  test('downloads a file once for this host, and once for all hosts with a bucket', async () => {
    const index = await startPackageIndex({ tiny: { [wheel]: bytes } });
    const bucket = new MemoryBucket();
    const downloads = () => index.requests.filter((path) => path.startsWith('/files/')).length;
    for (const isNewHost of [false, false, true]) {
      if (isNewHost) await rm(folder, { recursive: true });
      const { relay, read } = await relayOf(index.url, bucket);
      expect(Buffer.from(await (await read()).arrayBuffer()).equals(bytes)).toBe(true);
      await relay.close();
      expect(downloads()).toBe(1);
    }
    expect(await readdir(folder)).toEqual([sha256Of(bytes)]);
    expect([...bucket.objects.keys()]).toEqual([`downloads/${sha256Of(bytes)}`]);
  });

  test('never hands over or keeps a whole file that has not the hash of the index', async () => {
    const index = await startPackageIndex({ tiny: { [wheel]: bytes } });
    const bucket = new MemoryBucket();
    index.lies = true;
    const lying = await relayOf(index.url, bucket);
    await expect(lying.read().then((answer) => answer.arrayBuffer())).rejects.toThrow();
    await lying.relay.close();
    expect(lying.relay.failure).toContain(sha256Of(bytes));
    expect(await readdir(folder)).toEqual([]);
    expect(bucket.objects.size).toBe(0);
  });

  test('does not trust what lies under a hash in the bucket or on the host', async () => {
    const index = await startPackageIndex({ tiny: { [wheel]: bytes } });
    const bucket = new MemoryBucket();
    bucket.objects.set(`downloads/${sha256Of(bytes)}`, Buffer.from('another package'));
    const first = await relayOf(index.url, bucket);
    await expect(first.read().then((answer) => answer.arrayBuffer())).rejects.toThrow();
    await first.relay.close();
    expect(await readdir(folder)).toEqual([]);
    await writeFile(join(folder, sha256Of(bytes)), 'another package');
    const second = await relayOf(index.url);
    await expect(second.read().then((answer) => answer.arrayBuffer())).rejects.toThrow();
    expect(Buffer.from(await (await second.read()).arrayBuffer()).equals(bytes)).toBe(true);
    await second.relay.close();
  });

  test('a file of the same name and another hash is another file', async () => {
    const evil = Buffer.from('evil bytes under the name of a good wheel');
    const theirs = await startPackageIndex({ tiny: { [wheel]: evil } });
    const first = await relayOf(theirs.url);
    await (await first.read()).arrayBuffer();
    await first.relay.close();
    const good = await startPackageIndex({ tiny: { [wheel]: bytes } }, true);
    const second = await relayOf(good.url);
    const page = z
      .object({ files: z.tuple([z.object({ url: z.string() })]) })
      .parse(await (await fetch(`${second.url}tiny/`)).json());
    const got = await buffer((await fetch(page.files[0].url)).body!);
    expect(got.equals(bytes)).toBe(true);
    await second.relay.close();
  });

  test('serves nothing to who does not know its path, and reaches nothing but its indexes', async () => {
    const index = await startPackageIndex({ tiny: { [wheel]: bytes } });
    const { relay, url } = await relayOf(index.url);
    const { origin } = new URL(url);
    for (const path of ['/', `/${'0'.repeat(32)}/index/0/tiny/`, '/index/0/tiny/']) {
      expect((await fetch(`${origin}${path}`)).status).toBe(404);
    }
    for (const path of ['..%2f..%2fsecret', 'a/b', 'tiny/?x=http://127.0.0.1', '%00']) {
      expect((await fetch(`${url}${path}`)).status, path).toBeGreaterThanOrEqual(
        path.includes('?') ? 200 : 400,
      );
    }
    expect((await fetch(`${url}tiny/`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}missing/`)).status).toBe(404);
    expect(index.requests.every((path) => path.startsWith('/simple/'))).toBe(true);
    await relay.close();
  });

  test('drops what has been unused for longest beyond its bytes', async () => {
    const cache = new DownloadCache(folder, undefined);
    for (const text of ['first', 'second', 'third']) {
      const source = { body: Readable.from([Buffer.from(text)]), size: undefined, from: 'index' } as const;
      for await (const _ of cache.kept(sha256Of(Buffer.from(text)), source));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const again = await cache.find(sha256Of(Buffer.from('first')), () => Promise.reject(new Error('there')));
    again.body.destroy();
    await cache.settle(12);
    const names = ['first', 'third'].map((text) => sha256Of(Buffer.from(text)));
    expect((await readdir(folder)).sort()).toEqual(names.sort());
  });
});

describe('an environment from an index', () => {
  const version = (env: Record<string, string>) =>
    execFileSync('python', ['-c', 'import tiny; print(tiny.version)'], { env, encoding: 'utf8' }).trim();

  const operatorEnv = () => {
    const { PIP_NO_INDEX: _, ...env } = options(fixture, {
      env_type: 'python',
      dependencies: '',
    }).operatorEnv;
    return env;
  };

  test('takes on another host what the bucket has, and links on the same one what uv has', async () => {
    const index = await startPackageIndex({ tiny: { [wheel]: bytes } });
    const shared = { operatorEnv: operatorEnv(), packageIndexes: [new URL(index.url).origin] };
    const spec = { env_type: 'python', dependencies: `--index-url ${index.url}\ntiny` } as const;
    const bucket = new MemoryBucket();
    const build = async (projectId: string) => {
      fixture.lines.length = 0;
      const downloads = new DownloadCache(folder, bucket);
      const built = await prepareEnvironment(options(fixture, spec, { ...shared, projectId, downloads }));
      expect(version(built.env)).toBe('1.0');
      return fixture.lines.filter((line) => /downloads|installed on this host/.test(line));
    };
    const downloaded = () => index.requests.filter((path) => path.startsWith('/files/')).length;

    const first = await build('p1');
    await rm(fixture.root, { recursive: true });
    await rm(folder, { recursive: true });
    const onAnotherHost = await build('p2');
    const onTheSame = await build('p3');

    expect([first, onAnotherHost, onTheSame]).toEqual([
      [expect.stringMatching(/^environment: 0 of 1 downloads/)],
      [expect.stringMatching(/^environment: 1 of 1 downloads/)],
      ['environment: 1 of 1 packages are installed on this host'],
    ]);
    expect(downloaded()).toBe(1);
  });

  test('an index that the deployment does not allow is refused', async () => {
    const index = await startPackageIndex({ tiny: { [wheel]: bytes } });
    const spec = { env_type: 'python', dependencies: `--index-url ${index.url}\ntiny` } as const;
    await expect(
      prepareEnvironment(options(fixture, spec, { operatorEnv: operatorEnv() })),
    ).rejects.toMatchObject({
      code: 'bad-dependencies',
      message: expect.stringContaining('allowed are pypi.org'),
    });
  });

  test.runIf(everySample)('further indexes, links and early releases reach uv', async () => {
    await writeWheel(join(fixture.folder, 'early.whl'), '2.0rc1');
    const early = await readFile(join(fixture.folder, 'early.whl'));
    const main = await startPackageIndex({});
    const further = await startPackageIndex({
      tiny: { [wheel]: bytes, 'tiny-2.0rc1-py3-none-any.whl': early },
    });
    const packageIndexes = [main, further].map(({ url }) => new URL(url).origin);
    const both = `--index-url ${main.url}\n--extra-index-url ${further.url}`;
    const linked = `--index-url ${main.url}\n--find-links ${further.url}/tiny/`;
    for (const [dependencies, expected] of [
      [`${both}\ntiny`, '1.0'],
      [`${linked}\n--pre\ntiny`, '2.0rc1'],
    ] as const) {
      const built = await prepareEnvironment(
        options(
          fixture,
          { env_type: 'python', dependencies },
          { operatorEnv: operatorEnv(), packageIndexes },
        ),
      );
      expect(version(built.env), dependencies).toBe(expected);
    }
  });
});
