import { addressOf, type ServedMetadata } from '../api/serving.ts';
import { exampleRequest } from './served-model.ts';

/** The command that makes the token that the snippets send. */
export const tokenCommand = (model_name: string): string =>
  `export TOKEN=$(mps tokens create ${model_name} --rights read)`;

/** Lines of code that ask a served model, by the client that they use. */
export function snippets(model_name: string, metadata: ServedMetadata): Readonly<Record<string, string>> {
  const url = addressOf(model_name);
  const { host, protocol, pathname } = new URL(url);
  const base = `${host}${pathname.replace(/\/v2\/.*$/, '')}`;
  const [input] = metadata.inputs;
  const [output] = metadata.outputs;
  const dims = (input?.shape ?? []).map((dim) => (dim < 0 ? 1 : dim));
  const body = shortened(exampleRequest(metadata));
  return {
    curl: `curl ${url}/infer -H "Authorization: Bearer $TOKEN" -d '${body}'`,
    Python: `import os
import numpy as np
import tritonclient.http as triton  # pip install tritonclient[http]

client = triton.InferenceServerClient("${base}"${protocol === 'https:' ? ', ssl=True' : ''})
x = triton.InferInput("${input?.name}", [${dims.join(', ')}], "${input?.datatype}")
x.set_data_from_numpy(np.zeros([${dims.join(', ')}], ${numpyTypes[input?.datatype ?? ''] ?? 'np.float32'}))
answer = client.infer("${model_name}", [x], headers={"Authorization": f"Bearer {os.environ['TOKEN']}"})
print(answer.as_numpy("${output?.name}"))`,
    TypeScript: `const response = await fetch('${url}/infer', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env.TOKEN}\` },
  body: JSON.stringify(${body}),
});
const { outputs } = await response.json();`,
  };
}

/** NumPy's types, where their names differ from those of the protocol in more than case. */
const numpyTypes: Readonly<Record<string, string>> = {
  FP16: 'np.float16',
  FP64: 'np.float64',
  BOOL: 'bool',
  BYTES: 'object',
  ...Object.fromEntries(
    ['INT8', 'INT16', 'INT32', 'INT64', 'UINT8', 'UINT16', 'UINT32', 'UINT64'].map((name) => [
      name,
      `np.${name.toLowerCase()}`,
    ]),
  ),
};

/** Values that a snippet shows of an input. */
const maxValues = 4;

const shortened = (request: object): string =>
  JSON.stringify(request, (name, value: unknown) =>
    name === 'data' && Array.isArray(value) && value.length > maxValues
      ? [...value.slice(0, maxValues), '…']
      : value,
  ).replaceAll('"…"', '…');
