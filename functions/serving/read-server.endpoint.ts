import * as z from 'zod';
import packageFile from '../../package.json' with { type: 'json' };
import { defineEndpoint } from '../../shared/http/definition/definition.ts';

/** Extensions of Triton that clients may rely on. */
const extensions = ['binary_tensor_data', 'classification', 'model_configuration', 'model_repository'];

export const endpoint = defineEndpoint({
  name: 'readServer',
  method: 'GET',
  path: '/v2',
  summary: 'The inference server: its name, version and extensions',
  description:
    'Served models answer by the Open Inference Protocol (KServe V2), which the clients of Triton, KServe and MLServer speak.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 200: z.object({ name: z.string(), version: z.string(), extensions: z.array(z.string()) }) },

  async handle() {
    return {
      name: packageFile.name,
      version: packageFile.version,
      extensions,
    };
  },
});
