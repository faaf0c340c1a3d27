import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect } from 'vitest';
import { type Artifact, findArtifact, listArtifacts } from '../../../../shared/data/experiments/artifact.ts';
import {
  OutputUploader,
  type OutputUploaderOptions,
} from '../../../../shared/runner/outputs/upload/output-uploader.ts';
import { type LeasedExperiment, leasedExperiment } from '../leased-experiment.ts';

export const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** For each test a running experiment, and a folder whose files are uploaded as its artifacts. */
export class OutputBench {
  folder = '';
  /** What the uploader told the user. */
  said: string[] = [];
  #place: LeasedExperiment | undefined;
  #ids = 0;

  constructor() {
    beforeEach(async () => {
      this.#place = await leasedExperiment();
      this.folder = await mkdtemp(join(tmpdir(), 'output-'));
      this.said = [];
    });
    afterEach(() => rm(this.folder, { recursive: true, force: true }));
  }

  get place(): LeasedExperiment {
    return this.#place!;
  }

  uploader(options: Partial<OutputUploaderOptions> = {}): OutputUploader {
    return new OutputUploader({
      ...this.place,
      folder: this.folder,
      kind: 'artifact',
      newId: () => {
        this.#ids += 1;
        return `id-${this.#ids}`;
      },
      now: () => new Date('2026-01-02T03:04:05.678Z'),
      say: (message) => this.said.push(message),
      maxBytes: 1e9,
      maxProjectBytes: 1e9,
      onLimit: (error) => this.said.push(`stop: ${error.message}`),
      lookMilliseconds: 5,
      ...options,
    });
  }

  put(path: string, text: string | Uint8Array = path): Promise<void> {
    return writeFile(join(this.folder, path), text);
  }

  find(path: string): Promise<Artifact | undefined> {
    return findArtifact(this.place.records, this.place.experiment.experiment_id, path);
  }

  /** Waits until this text is stored under a path. */
  async uploaded(path: string, text: string): Promise<void> {
    await expect.poll(async () => (await this.find(path))?.sha256).toBe(sha256(text));
  }

  async list(): Promise<Artifact[]> {
    const { records, experiment } = this.place;
    return (await listArtifacts(records, experiment.experiment_id, { after: undefined })).items;
  }

  async paths(): Promise<string[]> {
    return (await this.list()).map(({ path }) => path);
  }

  async read({ object }: Artifact): Promise<Buffer> {
    const body = await this.place.objects.read(object);
    return body === undefined ? Buffer.from('nothing') : buffer(body);
  }
}
