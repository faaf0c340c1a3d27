import { createHash } from 'node:crypto';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalService } from '../../support/local-service.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { figure } from '../bench/figure.ts';
import { adminPassword, Ledger } from './machine/ledger.ts';
import type { Proof, ProofContext } from './proof.ts';
import { archiveOf } from './world/source-archive.ts';

/** Bytes of the artifact, and how often bits are flipped and healed. */
const sizes = { short: { bytes: 1_000_001, rounds: 1 }, long: { bytes: 8_000_001, rounds: 20 } };
const patienceMilliseconds = 120_000;

/** A project with a source and an artifact, at a service whose disk flips bits. */
class Victim {
  readonly #ledger: Ledger;
  readonly #blobs: string;
  #project = '';
  #experiment = '';
  /** Answers and ends that should have been others. */
  readonly faults: string[] = [];

  constructor(ledger: Ledger, data: string) {
    this.#ledger = ledger;
    this.#blobs = join(data, 's3/blobs');
  }

  async #do(method: string, path: string, body?: string): Promise<Readonly<Record<string, unknown>>> {
    const { status, text } = await this.#ledger.ask(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  async begin(): Promise<void> {
    const named = new URLSearchParams({
      'project-name': 'damaged',
      'project-description': 'Lies on a bad disk',
      'project-type': 'tabular',
      'project-task': 'classification',
    });
    this.#project = `/projects/${(await this.#do('POST', `/projects/?${named}`))['project_id']}`;
    await this.#do('PUT', `${this.#project}/configs/train.json`, '{}');
    const environment = new URLSearchParams({
      entry_point_command: 'test -s noise',
      env_type: 'system',
      dependencies: 'none',
    });
    await this.#do('PUT', `${this.#project}/environment?${environment}`);
    const made = await this.#do('POST', `${this.#project}/experiments`);
    this.#experiment = `${this.#project}/experiments/${made['experiment_id']}`;
  }

  async #upload(path: string, bytes: Buffer): Promise<Readonly<Record<string, unknown>>> {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const asked = await this.#ledger.ask('POST', `${path}?sha256=${sha256}&size=${bytes.length}`);
    const ticket = JSON.parse(asked.text);
    const { 'content-length': _, ...headers } = ticket.upload.headers;
    const put = await fetch(ticket.upload.url, { method: 'PUT', headers, body: new Uint8Array(bytes) });
    if (!put.ok) throw new Error(`an upload was refused: ${await put.text()}`);
    return { sha256, upload_id: ticket.upload_id };
  }

  async storeSource(bytes: Buffer): Promise<void> {
    const { sha256 } = await this.#upload(`${this.#project}/source`, bytes);
    await this.#do('PUT', `${this.#project}/source?sha256=${sha256}`);
  }

  async storeArtifact(bytes: Buffer): Promise<void> {
    const path = `${this.#experiment}/artifacts/model.bin`;
    const { upload_id } = await this.#upload(path, bytes);
    await this.#do('PUT', `${path}?upload_id=${upload_id}`);
  }

  /** Flips one bit of the stored file of that many bytes. */
  async flip(size: number, at: number): Promise<void> {
    for (const name of await readdir(this.#blobs, { recursive: true })) {
      const path = join(this.#blobs, name);
      const found = await stat(path);
      if (!found.isFile() || found.size !== size) continue;
      await using file = await open(path, 'r+');
      const byte = Buffer.alloc(1);
      await file.read(byte, 0, 1, at);
      await file.write(Buffer.of(byte.readUInt8() ^ 1), 0, 1, at);
    }
  }

  /** Downloads; the status and the bytes that came, and whether the answer was whole. */
  async download(what: 'source' | 'artifact'): Promise<Download> {
    const path =
      what === 'source' ? `${this.#project}/source/file` : `${this.#experiment}/artifacts/model.bin`;
    const { headers } = await this.#ledger.ask('GET', path);
    const answer = await fetch(String(headers['location']));
    const pieces: Uint8Array[] = [];
    let isWhole = true;
    try {
      for await (const piece of answer.body ?? []) pieces.push(piece);
    } catch {
      isWhole = false;
    }
    return { status: answer.status, bytes: Buffer.concat(pieces), isWhole };
  }

  /** Trains and exports; how each ended. */
  async work(): Promise<{
    training: Readonly<Record<string, unknown>>;
    archive: Readonly<Record<string, unknown>>;
  }> {
    const { experiment_id } = await this.#do('POST', `${this.#project}/train?config=train.json`);
    const training = await this.#end(`${this.#project}/experiments/${experiment_id}`);
    await this.#do('POST', `${this.#project}/export`);
    return { training, archive: await this.#end(`${this.#project}/export`) };
  }

  async #end(path: string): Promise<Readonly<Record<string, unknown>>> {
    const until = performance.now() + patienceMilliseconds;
    for (;;) {
      const found = await this.#do('GET', path);
      if (['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(String(found['status']))) return found;
      if (performance.now() > until) throw new Error(`no end: ${JSON.stringify(found)}`);
      await sleep(200);
    }
  }

  expect(what: string, isMet: boolean, found: unknown): void {
    if (!isMet) this.faults.push(`${what}: ${JSON.stringify(found)}`.slice(0, 600));
  }
}

interface Download {
  status: number;
  bytes: Buffer;
  isWhole: boolean;
}

const named = /The stored bytes of \S+ are damaged/;

async function prove({ folder, started, size, say, seeds = [1] }: ProofContext) {
  const data = join(folder, 'data');
  const service = await startLocalService(['--data', data], { ADMIN_PASSWORD: adminPassword });
  if ('code' in service) throw new Error(`the service did not start: ${service.output}`);
  started.defer(async () => void (await service.end('SIGKILL')));
  const ledger = new Ledger(service.url);
  started.defer(() => ledger.close());
  await ledger.signIn();
  const victim = new Victim(ledger, data);
  await victim.begin();

  const { bytes, rounds } = sizes[size];
  const draw = seededBytes(seeds[0] ?? 1);
  const source = await archiveOf({ noise: draw(300_000) });
  let [flipped, wrong] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const artifact = draw(bytes);
    await victim.storeArtifact(artifact);
    await victim.storeSource(source);
    await victim.flip(artifact.length, draw(4).readUInt32BE() % artifact.length);
    await victim.flip(source.length, draw(4).readUInt32BE() % source.length);
    flipped += 2;

    const first = await victim.download('artifact');
    const came = first.status === 200 ? first.bytes : Buffer.alloc(0);
    if (!came.equals(artifact.subarray(0, came.length)) || came.length === artifact.length) wrong += 1;
    victim.expect('the first download', !(first.status === 200 && first.isWhole), first.status);
    const second = await victim.download('artifact');
    victim.expect(
      'the next one',
      second.status === 403 && named.test(second.bytes.toString()),
      second.status,
    );
    const { training, archive } = await victim.work();
    for (const [what, { status, status_reason }] of Object.entries({ training, archive })) {
      victim.expect(what, status === 'FAILED' && named.test(String(status_reason)), [status, status_reason]);
      say(`${what}: ${status_reason}`);
    }

    await victim.storeArtifact(artifact);
    await victim.storeSource(source);
    const healed = { artifact: await victim.download('artifact'), source: await victim.download('source') };
    victim.expect('healed artifact', healed.artifact.bytes.equals(artifact), healed.artifact.status);
    victim.expect('healed source', healed.source.bytes.equals(source), healed.source.status);
    for (const [what, { status, status_reason }] of Object.entries(await victim.work()))
      victim.expect(`healed ${what}`, status === 'SUCCEEDED', [status, status_reason]);
  }
  const logged = service.output().match(/ is damaged: /g)?.length ?? 0;
  await service.end('SIGTERM');
  for (const line of [...victim.faults, ...ledger.faults]) say(line);
  return [
    figure('bits flipped in stored files', flipped, ''),
    figure('downloads with a wrong byte', wrong, '', { atMost: 0 }),
    figure('of these not logged once', Math.abs(flipped - logged), '', { atMost: 0 }),
    figure(
      'answers and ends that were not as they should be',
      victim.faults.length + ledger.faults.length,
      '',
      {
        atMost: 0,
      },
    ),
  ];
}

export const proof: Proof = { name: 'damage', title: 'Flipped bits in stored files', prove };
