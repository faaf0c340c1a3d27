import { readFile } from 'node:fs/promises';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';

/** An answer of an endpoint, as a client receives it. */
interface Answered {
  status: number;
  headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: answers have any shape
  json: any;
}

/**
 * Check an answer against the OpenAPI document: its status, its content type and, of JSON, its schema. Operations that
 * the document leaves out, such as MLflow's, pass.
 * @param path path of the request, by which an operation of a proxy is found
 * @throws Error that names the deviation
 */
export async function requireDocumented(
  { method, path: pattern }: Pick<AnyEndpoint, 'method' | 'path'>,
  asked: { method: string; path: string },
  { status, headers, json }: Answered,
): Promise<void> {
  const { paths, components, ajv } = await document();
  const sent = asked.method === 'HEAD' ? 'get' : asked.method.toLowerCase();
  const isProxy = method === 'ANY';
  const key = isProxy
    ? Object.keys(paths).find((one) => matches(one, asked.path))
    : pattern.replace('+}', '}');
  const operation = key === undefined ? undefined : paths[key]?.[sent];
  if (operation === undefined || key === undefined) return;
  const name = `${sent.toUpperCase()} ${key}`;
  const given = operation.responses[status];
  if (given === undefined)
    throw new Error(
      `${name} answered ${status}; documented are ${Object.keys(operation.responses).join(', ')}`,
    );
  const { content } = (given.$ref && components.responses[given.$ref.split('/').at(-1) ?? '']) || given;
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  if (content === undefined || asked.method === 'HEAD') return;
  const media =
    content[type] ?? (type === 'application/json' ? undefined : content['application/octet-stream']);
  if (media === undefined)
    throw new Error(
      `${name} answered ${status} as ${type}; documented are ${Object.keys(content).join(', ')}`,
    );
  if (json === undefined || media.schema === undefined) return;
  const validate = validatorOf(media.schema, ajv);
  if (!validate(json))
    throw new Error(
      `${name} answered ${status} with a body that is not documented: ${ajv.errorsText(validate.errors)}`,
    );
}

type Response = {
  $ref?: string;
  content?: Readonly<Record<string, { schema?: object } | undefined>>;
};

interface Document {
  paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { responses: Readonly<Record<string, Response | undefined>> } | undefined>>
    >
  >;
  components: { schemas: object; responses: Readonly<Record<string, Response>> };
}

let read: Promise<Document & { ajv: Ajv2020 }> | undefined;

function document(): Promise<Document & { ajv: Ajv2020 }> {
  read ??= readDocument();
  return read;
}

/** By the text of their schema: most operations share those of problems and of what they answer. */
const validators = new Map<string, ValidateFunction>();

/** Return the validator of a schema whose references lead into the document. */
function validatorOf(schema: object, ajv: Ajv2020): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
  const known = validators.get(text);
  if (known !== undefined) return known;
  const validate = ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  return validate;
}

/** Read the document as a file, because its type would be as large. */
async function readDocument(): Promise<Document & { ajv: Ajv2020 }> {
  const file = new URL('../../functions/service/openapi.json', import.meta.url);
  const { paths, components }: Document = JSON.parse(await readFile(file, 'utf8'));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', components: { schemas: components.schemas } });
  return { paths, components, ajv };
}

/** Whether a pattern such as `/v2/models/{name}` fits a path. */
function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const segments = path.replace(/\/$/, '').split('/');
  return (
    parts.length === segments.length &&
    parts.every((part, at) => part.startsWith('{') || part === segments[at])
  );
}
