import * as z from 'zod';
import { Reply } from '../../http/definition/reply.ts';
import { allowing, type Route, route } from './route.ts';

/** @param inParts whether clients upload large files in parts */
export const serverRoutes = (inParts: boolean): readonly Route[] =>
  allowing('read', [plain('version', mlflowVersion), plain('health', 'OK'), info(inParts)]);

const plain = (path: string, text: string): Route => ({
  method: 'GET',
  path,
  handle: async () => Reply.content('text/plain; charset=utf-8', text),
});

/** MLflow release of this API. Clients read it before they use features of newer servers. */
const mlflowVersion = '3.17.2';

/** Features of this server. Clients from 3.0 on read them. */
const info = (inParts: boolean) =>
  route('GET mlflow/server-info', z.object({}), async () => ({
    store_type: 'SqlStore',
    workspaces_enabled: false,
    trace_archival_enabled: false,
    multipart_uploads_enabled: inParts,
    multipart_downloads_enabled: inParts,
  }));
