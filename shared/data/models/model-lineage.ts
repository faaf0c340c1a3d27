import * as z from 'zod';
import { Sha256 } from '../../core/formats.ts';

/** Where an exported model comes from, as the exporter writes it to `export.json`. */
export const ModelLineage = z
  .object({
    source: z.object({
      hub: z.enum(['huggingface', 'folder']),
      id: z.string().max(300).nullable().describe('Repository of the Hub, such as `OWNER/NAME`.'),
      revision: z.string().max(100).nullable().describe('Commit of the repository.'),
      licence: z.string().max(200).nullable().describe('As the card of the model names it.'),
      files: z
        .record(z.string().max(300), Sha256)
        .describe('SHA-256 of the files that were read, by name; of at most 100.'),
    }),
    task: z.string().max(100),
    way: z.string().max(100).describe('How ONNX was made of it, such as `dynamo`.'),
    remote_code: z.boolean().describe('Whether code of the repository ran.'),
  })
  .meta({ id: 'ModelLineage' });
export type ModelLineage = z.infer<typeof ModelLineage>;
