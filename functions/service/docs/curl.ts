import type { ApiOperation, ApiParameter } from './api-document.ts';

/** Quote a word of a shell command. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const exampleText = ({ name, example }: ApiParameter): string =>
  example === undefined ? name.toUpperCase() : String(example);

function bodyWords({ requestBody }: ApiOperation): string[] {
  if (requestBody === undefined) return [];
  const json = requestBody.content['application/json'];
  if (json !== undefined) {
    return ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(json.example, null, 2))}`];
  }
  const [mediaType = ''] = Object.keys(requestBody.content);
  return [`-H 'Content-Type: ${mediaType}'`, '--data-binary @file'];
}

function answerWords({ responses }: ApiOperation): string[] {
  if (responses['302'] !== undefined) return ['-L -O'];
  const types = Object.keys(responses['200']?.content ?? {});
  return types.some((type) => /^image\/(?!.*xml)/.test(type)) ? ['-o picture'] : [];
}

/** Whether to send a token: if the operation requires one, or may refuse some callers. A sign-in needs none. */
function needsToken({ security, responses, tags }: ApiOperation): boolean {
  const mayRefuse = responses['403'] !== undefined && !tags.includes('Sign-in');
  return mayRefuse || security.every((one) => Object.keys(one).length > 0);
}

/**
 * Build a curl command for an operation, with examples as parameters. The reader sets `$BASE`, the address of the
 * service, and `$TOKEN`.
 */
export function curlCommand(method: string, path: string, operation: ApiOperation): string {
  const { parameters } = operation;
  const inPath = new Map(
    parameters
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => [parameter.name, exampleText(parameter)]),
  );
  const filled = path.replace(/\{(.+?)\}/g, (_, name: string) =>
    encodeURIComponent(inPath.get(name) ?? name).replaceAll('%2F', '/'),
  );
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const verb = method === 'GET' ? '' : `-X ${method} `;
  return [
    `curl ${query.length > 0 ? '-G ' : ''}${verb}"$BASE${filled}"`,
    ...(needsToken(operation) ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...query.map((one) => `--data-urlencode ${quoted(`${one.name}=${exampleText(one)}`)}`),
    ...bodyWords(operation),
    ...answerWords(operation),
  ].join(' \\\n  ');
}
