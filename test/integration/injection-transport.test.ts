import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../../infra/local/gateway/gateway-server.ts';
import { loadOperations } from '../../infra/service/endpoints.ts';
import { ArchiveError } from '../../shared/archive/archive-error.ts';
import { extractArchive } from '../../shared/archive/extract-archive.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import { corpus } from '../support/injection/corpus.ts';
import { sample, share } from '../support/injection/sample.ts';
import { Surroundings } from '../support/injection/surroundings.ts';
import { together } from '../support/injection/together.ts';
import { pax, tar, tarEntry, zip } from './archive/archive-bytes.ts';

const lanes = 8;
const ended = 'Host: localhost\r\nConnection: close';

/** Sends bytes, and answers all that came back, whatever it is, until the server closed the connection. */
function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(bytes)));
    const done = () => resolve(Buffer.concat(chunks).toString('latin1'));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses what is still being sent may reset the connection.
    socket.on('error', done);
    socket.on('close', done);
  });
}

/** The heads of answers that follow each other, each with its body as long as it says. */
function headsOf(came: string): string[] {
  const heads: string[] = [];
  let at = 0;
  while (at < came.length) {
    const end = came.indexOf('\r\n\r\n', at);
    if (end === -1) return [...heads, came.slice(at)];
    const head = came.slice(at, end);
    heads.push(head);
    at = end + 4 + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  }
  return heads;
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

describe('hostile strings on their way', () => {
  let around: Surroundings;
  let gateway: RunningGateway;
  let texts: readonly string[];
  let before: unknown;
  let authorization: string;

  beforeAll(async () => {
    around = await Surroundings.start({ LOG_LEVEL: 'error' });
    const loaded = await loadOperations(join(import.meta.dirname, '../../functions'));
    const endpoints = loaded.map(({ file, endpoint }) => ({
      file,
      endpoint,
      handler: lambda(endpoint, around.service.environment),
    }));
    // A pipelined request line that is broken leaves its connection to a timer. Nothing is shed, which would be a 503.
    const limits = { perSecond: 1e6, burst: 1e6, waiting: 1_000 };
    gateway = await startGateway({ endpoints, port: 0, headersTimeout: 1_000, anonymousTimes: 1e6, limits });
    const attacker = await around.service.user('developer');
    authorization = `Authorization: Bearer ${attacker.token}`;
    texts = corpus(around.neighbour);
    before = await around.snapshot();
  });
  afterAll(async () => {
    await gateway.close();
    await around.stop();
  });

  /** Expects whole answers without a 5xx, and no header in any of them that was not the service's own. */
  function expectHarmless(sent: string, came: string, least: number): void {
    const heads = headsOf(came);
    const isFine =
      heads.length >= least &&
      heads.every((head) => /^HTTP\/1\.1 [1-4]\d\d /.test(head)) &&
      heads.every((head) => !/^(x-injected|set-cookie):/im.test(head));
    if (!isFine) {
      throw new Error(`${JSON.stringify(sent.slice(0, 400))} → ${JSON.stringify(came.slice(0, 800))}`);
    }
  }

  function lines(piece: string): string[] {
    const { project_id, username } = around.neighbour;
    return [
      `GET /projects/${piece}`,
      `GET /projects/${project_id}/configs/${piece}`,
      `DELETE /projects/${project_id}/configs/${piece}`,
      `GET /projects/${project_id}/experiments/${project_id}/artifacts/${piece}`,
      `GET /users/check/${piece}`,
      `DELETE /users/${username}/profile_picture/${piece}`,
      `GET /projects/?cursor=${piece}`,
      `GET /projects/?${piece}=1`,
      `POST /projects/?project-name=${piece}`,
    ];
  }

  test('encoded once and twice in request lines reach nothing', async () => {
    await together(sample(texts, 0), lanes, async (text) => {
      const pieces = [encoded(text), encoded(encoded(text))].filter(({ length }) => length < 4_000);
      for (const piece of pieces) {
        const all = lines(piece);
        const requests = all.map((line, index) => {
          const last = index === all.length - 1 ? ended : 'Host: localhost';
          return `${line} HTTP/1.1\r\n${last}\r\n${authorization}\r\n\r\n`;
        });
        const sent = requests.join('');
        expectHarmless(sent, await exchange(gateway.url, sent), all.length);
      }
    });
    expect(await around.snapshot()).toEqual(before);
  });

  test('as they are, in request lines and headers, reach nothing', async () => {
    const headers = ['X-Fields', 'If-Match', 'Idempotency-Key', 'Origin', 'Accept', 'Authorization', 'Host'];
    await together(sample([...texts.entries()], 1), lanes, async ([index, text]) => {
      const all = lines(text);
      const header = headers[index % headers.length];
      const requests = [
        `${all[index % all.length]} HTTP/1.1\r\n${ended}\r\n${authorization}\r\n\r\n`,
        `GET /${text} HTTP/1.1\r\n${ended}\r\n\r\n`,
        `GET /projects HTTP/1.1\r\n${ended}\r\n${authorization}\r\n${header}: ${text}\r\n\r\n`,
      ];
      for (const sent of requests) {
        // A text that ends the line early may turn the rest into a request that never ends, or into none at all.
        const least = /[\r\n]/.test(text) ? 0 : 1;
        expectHarmless(sent, await exchange(gateway.url, sent), least);
      }
    });
    expect(await around.snapshot()).toEqual(before);
  });

  test('as names of entries of archives stay where they are unpacked', async () => {
    let unpacked = 0;
    await mkdir(around.within('unpacked'));
    const limits = { maxEntries: 10, maxBytes: 10_000, maxPathBytes: 1000, maxDepth: 600 };
    await together(sample([...texts.entries()], 2), lanes, async ([index, text]) => {
      if (text.length > 60_000) return;
      const named = pax({ path: text.toWellFormed() });
      const archives = [
        tar(named, tarEntry('cut', { content: 'x' })),
        tar(tarEntry(text, { content: 'x' })),
        zip({ [text]: { content: Buffer.from('x') } }),
      ];
      for (const [kind, bytes] of archives.entries()) {
        const file = around.within(`unpacked/${index}-${kind}.archive`);
        const into = around.within(`unpacked/${index}-${kind}`);
        await writeFile(file, bytes);
        try {
          await extractArchive({ file, into, limits });
        } catch (error) {
          if (!(error instanceof ArchiveError)) throw error;
          continue;
        }
        unpacked += 1;
        const entries = await readdir(into, { recursive: true, withFileTypes: true });
        for (const entry of entries) expect(entry.isFile() || entry.isDirectory()).toBe(true);
      }
    });
    expect(unpacked).toBeGreaterThan(300 / share);
    expect(await around.snapshot()).toEqual(before);
  });
});
