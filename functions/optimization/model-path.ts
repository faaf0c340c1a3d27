import * as z from 'zod';
import { FileId } from '../../shared/endpoint/parameters.ts';

/** Path parameters of everything about one model. */
export const modelPath = z.strictObject({ model_name: FileId });
