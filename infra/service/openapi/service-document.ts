import packageFile from '../../../package.json' with { type: 'json' };
import { type OpenApiDocument, openApiDocument } from '../../../shared/http/openapi/document.ts';
import type { LoadedEndpoint } from '../endpoints.ts';
import { samples } from './document-samples.ts';
import { tags } from './tag-rules.ts';

const description = `Projects of machine learning with their configurations, environments, experiments and training runs; users; and the pruning and quantization of models.

Sign in with \`POST /auth/token\` and send the token with every request as \`Authorization: Bearer <token>\`. Every path answers with and without its trailing slash, and HEAD wherever GET does. Times are ISO 8601 in UTC, sizes bytes, durations seconds. Unknown and repeated parameters are refused. Errors are problem documents (RFC 9457).`;

/** The OpenAPI document of the whole service, as it is kept beside the endpoint that serves it. */
export function serviceDocument(endpoints: readonly LoadedEndpoint[]): OpenApiDocument {
  const all = endpoints.map(({ endpoint }) => endpoint);
  return openApiDocument(all, {
    title: 'Model Project Service',
    version: packageFile.version,
    description,
    tags,
    samples,
  });
}

/** The document as the text of its file. */
export function documentText(document: OpenApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
