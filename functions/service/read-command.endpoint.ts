import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import * as z from 'zod';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { commandFiles } from './command-files.ts';
import { answerDocument, type FixedDocument } from './fixed-document.ts';
import { wheelName } from './wheel-name.ts';

const decompress = promisify(brotliDecompress);
const fileNames = ['mps.mjs', 'mps.tgz', 'SKILL.md', wheelName] as const;
type FileName = (typeof fileNames)[number];

const made = new Map<FileName, FixedDocument>();

const documentOf = (mediaType: string, bytes: Uint8Array): FixedDocument => ({
  mediaType,
  bytes,
  hash: createHash('sha256').update(bytes).digest('base64url').slice(0, 16),
});

/** Return a file of the command. It is the same for every request, so the first request builds it. */
async function document(file: FileName): Promise<FixedDocument> {
  const present = made.get(file);
  if (present !== undefined) return present;
  const fixedDocument = await makeDocument(file);
  made.set(file, fixedDocument);
  return fixedDocument;
}

async function makeDocument(file: FileName): Promise<FixedDocument> {
  const { archive, program, wheel, skill } = await commandFiles();
  if (file === wheelName) return documentOf('application/zip', Buffer.from(wheel, 'base64'));
  if (file === 'SKILL.md') return documentOf('text/markdown; charset=utf-8', Buffer.from(skill));
  if (file === 'mps.tgz') return documentOf('application/gzip', Buffer.from(archive, 'base64'));
  return documentOf('text/javascript; charset=utf-8', await decompress(Buffer.from(program, 'base64')));
}

export const endpoint = defineEndpoint({
  name: 'readCommand',
  method: 'GET',
  path: '/cli/{file}',
  summary: 'The command mps of this service, and its package for Python',
  description:
    'Install `mps.tgz` with `npm install -g` and its URL; `mps.mjs` is the same program as one file, without `mps ci check`, `mps mcp` and the imports from other trackers. It runs on Node 20 and newer. `pip install` takes the wheel by its URL, for Python 3.9 and newer; `import mps` then records and reads experiments. `SKILL.md` is a skill for agents that use `mps mcp`.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 2, burst: 10 },
  input: {
    path: z.strictObject({
      file: z
        .enum(fileNames, `must be one of ${fileNames.join(', ')}`)
        .describe(
          '`mps.tgz` for npm, `mps.mjs` to run without an installation, the wheel for pip, or `SKILL.md` for agents.',
        ),
    }),
  },
  output: { 200: content(['text/javascript', 'application/gzip', 'application/zip', 'text/markdown']) },
  etag: true,

  async handle({ path: { file } }) {
    return answerDocument(await document(file), undefined);
  },
});
