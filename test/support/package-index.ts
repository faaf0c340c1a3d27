import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A package index on this machine, with the files of each project. */
export interface PackageIndex {
  url: string;
  /** Paths that were asked for. */
  requests: string[];
  /** Contents by project and file name; what is changed here counts from then on. */
  files: Record<string, Record<string, Buffer>>;
  /** Whether files have other bytes than the pages state. */
  lies: boolean;
  /** Number of files that break off in their middle from now on. */
  cuts: number;
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Starts an index that answers pages as HTML, or as JSON where `isJson`; it ends with the test. */
export async function startPackageIndex(files: PackageIndex['files'], isJson = false): Promise<PackageIndex> {
  const index: PackageIndex = { url: '', requests: [], files, lies: false, cuts: 0 };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '');
    // What asks for the metadata within a wheel is no download.
    if (request.method === 'GET' && range === null) index.requests.push(path);
    const [, kind, project = '', name = ''] = path.split('/');
    const ofProject = index.files[project];
    if (kind === 'simple' && ofProject !== undefined) {
      const found = Object.entries(ofProject);
      if (isJson) {
        const listed = found.map(([filename, bytes]) => ({
          filename,
          url: `/files/${project}/${filename}`,
          hashes: { sha256: sha256Of(bytes) },
        }));
        const page = { meta: { 'api-version': '1.0' }, name: project, files: listed };
        response.setHeader('content-type', 'application/vnd.pypi.simple.v1+json');
        response.end(JSON.stringify(page));
        return;
      }
      const links = found.map(
        ([file, bytes]) => `<a href="../../files/${project}/${file}#sha256=${sha256Of(bytes)}">${file}</a>`,
      );
      response.setHeader('content-type', 'text/html');
      response.end(`<!DOCTYPE html><html><body>${links.join('\n')}</body></html>`);
      return;
    }
    const bytes = kind === 'files' ? ofProject?.[name] : undefined;
    // As at PyPI: a file of a name never changes.
    const facts = { 'accept-ranges': 'bytes', 'cache-control': 'max-age=365000000, immutable, public' };
    if (bytes === undefined) response.writeHead(404).end();
    else if (request.method === 'HEAD')
      response.writeHead(200, { ...facts, 'content-length': bytes.length }).end();
    else if (range !== null && index.cuts === 0) {
      const [, from = '', to = ''] = range;
      const first = from === '' ? Math.max(0, bytes.length - Number(to)) : Number(from);
      const last = from === '' || to === '' ? bytes.length - 1 : Math.min(Number(to), bytes.length - 1);
      const part = bytes.subarray(first, last + 1);
      const place = {
        'content-range': `bytes ${first}-${last}/${bytes.length}`,
        'content-length': part.length,
      };
      response.writeHead(206, { ...facts, ...place }).end(part);
    } else if (index.cuts > 0) {
      index.cuts -= 1;
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    } else response.writeHead(200, facts).end(index.lies ? Buffer.concat([bytes, Buffer.from('!')]) : bytes);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  index.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;
  return index;
}
