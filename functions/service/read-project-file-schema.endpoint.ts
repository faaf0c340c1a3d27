import * as z from 'zod';
import { projectFileSchema } from '../../shared/config/project-file.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerDocument, type FixedDocument, fixedDocument } from './fixed-document.ts';

let made: FixedDocument | undefined;

export const endpoint = defineEndpoint({
  name: 'readProjectFileSchema',
  method: 'GET',
  path: '/cli/mps.schema.json',
  summary: 'The JSON Schema of mps.yaml',
  description: 'Lets editors complete and check an `mps.yaml`. Its description explains the setup.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 2, burst: 10 },
  input: {},
  output: { 200: z.looseObject({ $schema: z.string() }) },
  etag: true,

  async handle() {
    made ??= fixedDocument('application/json', JSON.stringify(projectFileSchema()));
    return answerDocument(made, undefined);
  },
});
