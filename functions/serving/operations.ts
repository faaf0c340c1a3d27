import * as z from 'zod';
import { FileId, Sha256, Ulid } from '../../shared/core/formats.ts';
import { ImageSettings } from '../../shared/data/models/image-settings.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { file } from '../../shared/http/definition/endpoint-input.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { describeModel, describeModelConfig, indexModels, requireAnswering } from './describe-models.ts';
import { infer } from './infer.ts';
import { servingNeeds } from './serving-needs.ts';

/** Largest body in bytes: Lambda limits the event, which contains the body in base64. */
export const maxBodyBytes = 4_400_000;

const model = { model_name: FileId.describe('Name of the served model, such as `digits.onnx`.') };
const version = { version: FileId.describe('Version or alias, such as `champion`.') };
const ofModel = z.strictObject(model);
const ofVersion = z.strictObject({ ...model, ...version });

const shared = { allow: 'anyone', needs: servingNeeds } as const;

const whoMay = 'The serving configuration of the model says who may ask it.';

const Tensor = z
  .object({ name: z.string(), datatype: z.string(), shape: z.array(z.number().int()) })
  .meta({ id: 'ServedTensor' });

const ModelMetadata = z
  .object({
    name: z.string(),
    versions: z.array(z.string()),
    platform: z.string(),
    inputs: z.array(Tensor),
    outputs: z.array(Tensor),
    parameters: z.object({
      version: z.string(),
      sha256: Sha256,
      bytes: z.number().int(),
      strategy: Ulid.nullable(),
      receipt: z.string().nullable(),
      max_batch: z.number().int(),
      /** Inputs and outputs for a request with texts. Null for a model without a tokenizer. */
      texts: z
        .object({
          task: z.string(),
          max_tokens: z.number().int(),
          pooling: z.string().nullable(),
          normalize: z.boolean(),
          inputs: z.array(Tensor),
          outputs: z.array(Tensor),
        })
        .nullable(),
      /** Why a model with a tokenizer cannot be asked by texts. */
      texts_fault: z.string().nullable(),
      /** Inputs and outputs for a request with pictures. Null for a model without the settings of an image processor. */
      images: z
        .object({
          task: z.string(),
          /** Sides of a picture after the first step. `shortest` keeps its proportions; null leaves it as it is. */
          resize: ImageSettings.shape.resize,
          /** The middle that the model sees. */
          crop: ImageSettings.shape.crop,
          inputs: z.array(Tensor),
          outputs: z.array(Tensor),
        })
        .nullable(),
      /** Why a model with these settings cannot be asked by pictures. */
      images_fault: z.string().nullable(),
    }),
  })
  .meta({ id: 'ServedModelMetadata' });

const ConfigTensor = z.object({ name: z.string(), data_type: z.string(), dims: z.array(z.number().int()) });

const ModelConfig = z
  .object({
    name: z.string(),
    platform: z.string(),
    backend: z.string(),
    max_batch_size: z.number().int(),
    input: z.array(ConfigTensor),
    output: z.array(ConfigTensor),
  })
  .meta({ id: 'ServedModelConfig' });

const RepositoryIndex = z.array(
  z
    .object({ name: z.string(), version: z.string(), state: z.string(), reason: z.string() })
    .meta({ id: 'ServedIndexRow' }),
);

const Ready = z.object({ name: z.string(), version: z.string(), ready: z.boolean() });

const InferResponse = z
  .object({
    model_name: z.string(),
    model_version: z.string(),
    id: z.string().optional(),
    outputs: z.array(
      z.object({
        name: z.string(),
        datatype: z.string(),
        shape: z.array(z.number().int()),
        data: z.array(z.unknown()).optional(),
      }),
    ),
  })
  .meta({ id: 'InferResponse' });

/** Answer to texts or pictures that came without tensors. */
const TextResponse = z
  .object({
    model_name: z.string(),
    model_version: z.string(),
    id: z.string().optional(),
    embeddings: z.array(z.array(z.number().nullable())).optional(),
    labels: z.array(z.object({ label: z.string(), score: z.number().nullable() })).optional(),
    scores: z.array(z.number().nullable()).optional(),
    tokens: z
      .array(z.array(z.object({ token: z.string(), label: z.string(), score: z.number().nullable() })))
      .optional(),
    /** Indices of the texts that are longer than the model reads. */
    cut: z.array(z.number().int()).optional(),
  })
  .meta({ id: 'TextResponse' });

const inferred = content(['application/octet-stream'], z.union([InferResponse, TextResponse]));
const inferBody = file(['application/json', 'application/octet-stream'], maxBodyBytes);
const inferDescription = `The body is JSON: \`{"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 1, 8, 8], "data": [0.1, …]}]}\`. With the header \`Inference-Header-Content-Length\`, tensors follow the JSON as bytes, and those that are asked for with \`binary_data\` are answered so. An input of FP32 takes FP16, too. \`outputs\` chooses outputs; \`"parameters": {"classification": 3}\` answers the best three classes. A model that was pushed with its tokenizer takes texts, too: as the input \`text\` of BYTES, with \`text_pair\` for pairs, or without tensors as \`{"texts": ["…"]}\`, which is answered by \`embeddings\`, \`labels\`, \`scores\` or \`tokens\`. One that was pushed with \`preprocessor_config.json\` takes PNG and JPEG files: as the input \`image\` of BYTES (the file in a binary tensor, its base64 in JSON), or as \`{"images": ["<base64>"]}\`. Errors are \`{"error": "…"}\`. ${whoMay}`;

/** Operations that one function serves. Each is defined as an endpoint, for the router and the OpenAPI document. */
export const operations = [
  defineEndpoint({
    ...shared,
    name: 'checkServerLive',
    method: 'GET',
    path: '/v2/health/live',
    summary: 'Whether the inference server runs',
    input: {},
    output: { 200: z.object({ live: z.boolean() }) },
    handle: async () => ({ live: true }),
  }),
  defineEndpoint({
    ...shared,
    name: 'checkServerReady',
    method: 'GET',
    path: '/v2/health/ready',
    summary: 'Whether the inference server answers',
    input: {},
    output: { 200: z.object({ ready: z.boolean() }) },
    handle: async () => ({ ready: true }),
  }),
  defineEndpoint({
    ...shared,
    name: 'readRepositoryIndex',
    method: 'GET',
    path: '/v2/repository/index',
    summary: 'All served models and versions that the caller may ask',
    input: {},
    output: { 200: RepositoryIndex },
    problems: ['forbidden'],
    handle: async (_, context) => indexModels(undefined, context),
  }),
  defineEndpoint({
    ...shared,
    name: 'postRepositoryIndex',
    method: 'POST',
    path: '/v2/repository/index',
    summary: 'The same, as the clients of Triton ask for it',
    description: 'The body may be `{"ready": true}`, which leaves out versions that were taken out.',
    input: { body: file(['application/json'], maxBodyBytes) },
    output: { 200: RepositoryIndex },
    problems: ['forbidden'],
    handle: async ({ body }, context) => indexModels(body.bytes, context),
  }),
  ...[
    { suffix: '', path: ofModel, which: 'Model' as const },
    { suffix: '/versions/{version}', path: ofVersion, which: 'ModelVersion' as const },
  ].flatMap(({ suffix, path, which }) => [
    defineEndpoint({
      ...shared,
      name: `readServed${which}`,
      method: 'GET',
      path: `/v2/models/{model_name}${suffix}`,
      summary: `Inputs, outputs and digest of a ${which === 'Model' ? 'served model' : 'version'}`,
      description: whoMay,
      input: { path },
      output: { 200: ModelMetadata },
      problems: ['forbidden'],
      handle: async (input, context) => describeModel(input.path, context),
    }),
    defineEndpoint({
      ...shared,
      name: `readServed${which}Config`,
      method: 'GET',
      path: `/v2/models/{model_name}${suffix}/config`,
      summary: `The same as a configuration of Triton`,
      description: whoMay,
      input: { path },
      output: { 200: ModelConfig },
      problems: ['forbidden'],
      handle: async (input, context) => describeModelConfig(input.path, context),
    }),
    defineEndpoint({
      ...shared,
      name: `checkServed${which}Ready`,
      method: 'GET',
      path: `/v2/models/{model_name}${suffix}/ready`,
      summary: `Whether a ${which === 'Model' ? 'model is served' : 'version answers'}`,
      description: whoMay,
      input: { path },
      output: { 200: Ready },
      problems: ['conflict', 'forbidden'],
      handle: async (input, context) => requireAnswering(input.path, context),
    }),
    defineEndpoint({
      ...shared,
      name: `infer${which}`,
      method: 'POST',
      path: `/v2/models/{model_name}${suffix}/infer`,
      summary: `Run ${which === 'Model' ? 'a served model' : 'a version of a served model'}`,
      description: inferDescription,
      input: { path, body: inferBody },
      output: { 200: inferred },
      problems: ['conflict', 'forbidden', 'too-large', 'unsupported-media-type'],
      handle: async (input, context) => infer(input.path, input.body.bytes, context),
    }),
  ]),
];
