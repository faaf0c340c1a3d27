import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { consoleFiles } from '../../../functions/console/console-files.ts';
import { consolePage } from '../../../functions/console/console-page.ts';
import { endpoint as readConsole } from '../../../functions/console/read-console.endpoint.ts';
import { endpoint as readConsoleFile } from '../../../functions/console/read-console-file.endpoint.ts';
import { consoleOf, endpoint as openMlflow } from '../../../functions/mlflow/open-mlflow.endpoint.ts';
import { testService } from '../../support/service.ts';

const service = await testService();
const built = await consoleFiles();

/** Most bytes of the first page, compressed. */
const maxFirstPage = 80_000;
/** Bytes of the head of an answer, which the browser counts, too. */
const maxHead = 600;

const bytesOf = (name: string): Buffer => Buffer.from(built.files[name]?.gzip ?? '', 'base64');
const sizeOf = (name: string): number => bytesOf(name).length;
const codeOf = (name: string): string => gunzipSync(bytesOf(name)).toString();

describe('the console', () => {
  test('is a page without anything inline, under a policy that admits its own files and storage', async () => {
    const { status, headers, text } = await service.call(readConsole);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:",
    );
    expect(policy).toMatch(/connect-src 'self' https?:\/\/[^ ;]+;/);
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/<style|style=|<script>| on\w+=/);
    expect(text).toContain(`src="/console/${built.script}"`);
    expect(text).toContain(`href="/console/${built.style}"`);
  });

  test.each([
    ['/mlflow', '/console'],
    ['/mlflow/', '/console'],
    ['/v1/mlflow', '/v1/console'],
    ['//elsewhere.example/mlflow', '/elsewhere.example/console'],
  ])('is where links of MLflow’s clients lead: from %s to %s', (requestPath, location) => {
    expect(consoleOf(requestPath)).toBe(location);
  });

  test('is what a browser is sent to that opens such a link', async () => {
    const { status, headers } = await service.call(openMlflow);
    expect([status, headers['location']]).toEqual([302, '/console']);
  });

  test.each([
    ['/console', '/console/'],
    ['/console/', '/console/'],
    ['/v1/console', '/v1/console/'],
    ['//elsewhere.example/console', '/elsewhere.example/console/'],
  ])('asked for at %s names its files below %s', (requestPath, base) => {
    expect(consolePage(built, requestPath)).toContain(`src="${base}${built.script}"`);
  });

  test('sends its first page in at most 80 KB', () => {
    const page = gzipSync(consolePage(built, '/console')).length;
    const sizes = [built.script, built.style].map(sizeOf).concat(page, 3 * maxHead);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxFirstPage);
  });

  test('is three requests at first, its page among them, as a new account lets through at once', () => {
    const page = consolePage(built, '/console');
    const asked = [...page.matchAll(/<(?:link|script|img)[^>]* (?:src|href)="(?!data:)([^"]+)"/g)];
    expect(asked.map(([, file]) => file)).toEqual([`/console/${built.style}`, `/console/${built.script}`]);
    expect(codeOf(built.script)).not.toMatch(/\bfrom\s*"|\bimport\s*"/);
  });

  test('loads each later part by at most three files, all of which the page names', () => {
    expect(Object.keys(built.parts)).toContain('experiment');
    for (const [name, files] of Object.entries(built.parts)) {
      expect(files.length, name).toBeLessThanOrEqual(3);
      const imported = files.flatMap((file) => [...codeOf(file).matchAll(/\bfrom\s*"\.\/([^"]+)"/g)]);
      const needed = imported.map(([, file]) => file).filter((file) => file !== built.script);
      expect(files, name).toEqual(expect.arrayContaining(needed));
    }
    const dynamic = Object.keys(built.files).flatMap((file) => [
      ...codeOf(file).matchAll(/(.{0,40})\bimport\(/g),
    ]);
    expect(dynamic).toHaveLength(Object.keys(built.parts).length);
    // `name, () => import(…)`: what loads the files of a part by its name, and tries again.
    for (const [, before] of dynamic) expect(before).toMatch(/[`"'][a-z0-9-]+[`"'],\s*\(\)\s*=>\s*$/);
  });
});

describe('a file of the console', () => {
  test('may be kept for ever and is sent as it was compressed', async () => {
    const path = { file: built.script };
    const plain = await service.call(readConsoleFile, { path });
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const packed = await service.call(readConsoleFile, { path, headers: { 'Accept-Encoding': 'gzip' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
  });

  test.each(['absent-0000000000.js', 'constructor.js', '__proto__.js', 'main.html'])(
    '%s is not there',
    async (file) => {
      const { status } = await service.call(readConsoleFile, { path: { file } });
      expect([400, 404]).toContain(status);
    },
  );
});
