import * as z from 'zod';

const Schema = z.record(z.string(), z.unknown());

/** A JSON Schema in the OpenAPI document. */
export type ApiSchema = z.infer<typeof Schema>;

const Media = z.object({ schema: Schema.optional(), example: z.unknown().optional() });
const Content = z.record(z.string(), Media);

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().optional(),
  schema: Schema,
  example: z.unknown().optional(),
});
export type ApiParameter = z.infer<typeof Parameter>;

const Response = z.object({
  $ref: z.string().optional(),
  description: z.string().optional(),
  content: Content.optional(),
});
export type ApiResponse = z.infer<typeof Response>;

const Operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(Parameter),
  requestBody: z.object({ description: z.string().optional(), content: Content }).optional(),
  responses: z.record(z.string(), Response),
  security: z.array(Schema),
});
export type ApiOperation = z.infer<typeof Operation>;

/** The parts of an OpenAPI document that the reference shows. */
export const ApiDocument = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string().optional() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({
    schemas: z.record(z.string(), Schema),
    responses: z.record(
      z.string(),
      z.object({
        description: z.string(),
        content: z.record(z.string(), z.object({ example: Schema.optional() })),
      }),
    ),
  }),
});
export type ApiDocument = z.infer<typeof ApiDocument>;
