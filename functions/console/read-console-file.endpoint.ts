import * as z from 'zod';
import { notFound } from '../../shared/core/service-error.ts';
import { keepCompressed } from '../../shared/http/answer/content-encoding.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { consoleFiles } from './console-files.ts';

const made = new Map<string, { mediaType: string; bytes: Uint8Array }>();

/** Return a file of the console in its compressed form, as it was built. */
async function readFile(name: string): Promise<{ mediaType: string; bytes: Uint8Array } | undefined> {
  const present = made.get(name);
  if (present !== undefined) return present;
  const { files } = await consoleFiles();
  const built = Object.hasOwn(files, name) ? files[name] : undefined;
  if (built === undefined) return undefined;
  const bytes = await keepCompressed(Buffer.from(built.gzip, 'base64'));
  const file = { mediaType: built.mediaType, bytes };
  made.set(name, file);
  return file;
}

export const endpoint = defineEndpoint({
  name: 'readConsoleFile',
  method: 'GET',
  path: '/console/{file}',
  summary: 'Script or style sheet of the console',
  description: 'The name contains a hash of the content, so clients may cache the file forever.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 40, burst: 100 },
  input: {
    path: z.strictObject({
      file: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,64}\.(?:js|css)$/, 'must be the name of a script or style')
        .describe("Name of the file, from the console's page."),
    }),
  },
  output: { 200: content(['text/javascript', 'text/css']) },
  problems: ['not-found'],

  async handle({ path: { file } }) {
    const found = await readFile(file);
    if (found === undefined) throw notFound('file', file);
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
    return Reply.content(found.mediaType, found.bytes, { headers });
  },
});
