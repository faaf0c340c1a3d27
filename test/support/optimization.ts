import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { endpoint as prune } from '../../functions/optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import { endpoint as readPruneLogs } from '../../functions/optimization/compressions/prune/read-prune-logs.endpoint.ts';
import { endpoint as readPrune } from '../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { endpoint as quantize } from '../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import { endpoint as readQuantizeLogs } from '../../functions/optimization/compressions/quantize/read-quantize-logs.endpoint.ts';
import { endpoint as readQuantize } from '../../functions/optimization/compressions/quantize/read-quantize-strategy.endpoint.ts';
import { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as putModel } from '../../functions/optimization/models/put-model.endpoint.ts';
import type { BatchServerOptions } from '../../infra/local/batch/batch-server.ts';
import { jobCommand } from './job-programs.ts';
import type { Answer, TestService, TestUser } from './service.ts';
import { trainingService, usualDefinition } from './training.ts';

const root = join(import.meta.dirname, '../..');
const operations = {
  prune: { create: prune, read: readPrune, logs: readPruneLogs },
  quantize: { create: quantize, read: readQuantize, logs: readQuantizeLogs },
} as const;
export type Operation = keyof typeof operations;

const isOver = ({ status }: Answer['json']): boolean => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);

/** Uploads a file as a model, or as a set of it, by presigned URL as a client does. */
export async function uploadModel(
  service: TestService,
  as: TestUser,
  model_name: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  const path = { model_name };
  for (const [file, bytes] of Object.entries(files)) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const query = { file, sha256, size: String(bytes.length) };
    const asked = await service.call(createModel, { path, query, as });
    if (asked.status !== 200) throw new Error(asked.text);
    const { url, method, headers } = asked.json.upload;
    const { 'content-length': _, ...sent } = headers;
    const put = await fetch(url, { method, headers: sent, body: Buffer.from(bytes) });
    if (!put.ok) throw new Error(`the upload was refused: ${await put.text()}`);
  }
  const made = await service.call(putModel, { path, as });
  if (made.status !== 200) throw new Error(made.text);
}

/** The service with a Batch of its own, whose jobs run `programs`: by default one whose engine only copies. */
export async function optimizationService(
  more: Readonly<Record<string, string>> = {},
  options: Partial<BatchServerOptions> = {},
  programs: Readonly<Record<Operation, string>> = {
    prune: 'test/integration/optimization/copying.job.ts',
    quantize: 'test/integration/optimization/copying.job.ts',
  },
  atEnd: (end: () => Promise<unknown>) => void = (end) => onTestFinished(async () => void (await end())),
) {
  const definitions = (Object.keys(programs) as Operation[]).map((name) => ({
    ...usualDefinition,
    name,
    type: 'container' as const,
    command: jobCommand(programs[name]),
    environment: { ...usualDefinition.environment, OPERATION: name },
  }));
  const service = await trainingService({ jobDefinitions: definitions, ...options }, more, atEnd);
  const { developer } = service;
  await uploadModel(service, developer, 'digits.onnx', {
    model: await readFile(join(root, 'test/fixtures/onnx/digits.onnx')),
  });

  const read = async (operation: Operation, strategy_id: string) => {
    const answer = await service.call(operations[operation].read, { path: { strategy_id }, as: developer });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json;
  };

  return {
    ...service,

    /** Asks for a pruning of the digits model. */
    prune: (
      query: Readonly<Record<string, string>> = {},
      as = developer,
      environment = service.environment,
    ) =>
      service.call(prune, {
        query: {
          model_name: 'digits.onnx',
          inputs: '1x1x8x8',
          outputs: '1x10',
          strategy: 'structured_l2',
          compression: '2',
          ...query,
        },
        as,
        environment,
      }),

    /** Asks for a quantization of the digits model. */
    quantize: (query: Readonly<Record<string, string>> = {}, as = developer) =>
      service.call(quantize, {
        query: { model_name: 'digits.onnx', strategy: 'dynamic', precision: '8', ...query },
        as,
      }),

    read,

    async untilCompression(
      operation: Operation,
      strategy_id: string,
      condition: (compression: Answer['json']) => boolean = isOver,
    ): Promise<Answer['json']> {
      for (;;) {
        const compression = await read(operation, strategy_id);
        if (condition(compression)) return compression;
        if (isOver(compression)) throw new Error(`ended meanwhile: ${JSON.stringify(compression, null, 1)}`);
        await sleep(50);
      }
    },

    async compressionLog(operation: Operation, strategy_id: string): Promise<string> {
      const headers = { Accept: 'text/plain' };
      const path = { strategy_id };
      return (await service.call(operations[operation].logs, { path, headers, as: developer })).text;
    },
  };
}

export type OptimizationService = Awaited<ReturnType<typeof optimizationService>>;
